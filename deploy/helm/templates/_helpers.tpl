{{- define "rankery.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* Labels of every object; called with `dict "root" $`, and with `"component" "api"` for the objects of a component. */ -}}
{{- define "rankery.labels" -}}
{{ include "rankery.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "rankery.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{- define "rankery.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "rankery.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- /* Allowed host names of requests: those of the service within the cluster, and that of the ingress. */ -}}
{{- define "rankery.hosts" -}}
{{- $service := printf "%s-api" (include "rankery.fullname" .) -}}
{{- $hosts := list $service (printf "%s.%s" $service .Release.Namespace) (printf "%s.%s.svc" $service .Release.Namespace) (printf "%s.%s.svc.cluster.local" $service .Release.Namespace) -}}
{{- if .Values.ingress.enabled -}}
{{- $hosts = append $hosts .Values.ingress.host -}}
{{- end -}}
{{- join "," $hosts -}}
{{- end -}}

{{- /* Pod settings of all components; called with `dict "root" $ "component" "api" "values" .Values.api`. */ -}}
{{- define "rankery.pod" -}}
serviceAccountName: {{ include "rankery.serviceAccount" .root }}
automountServiceAccountToken: false
# Otherwise Kubernetes would set variables RANKERY_… with the addresses of the services.
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .root.Values.podSecurityContext | nindent 2 }}
terminationGracePeriodSeconds: {{ .values.terminationGracePeriodSeconds }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "rankery.selector" . | nindent 8 }}
volumes:
  - name: scratch
    {{- toYaml .values.scratch | nindent 4 }}
  {{- if .certificates }}
  - name: dask-certificates
    secret: {secretName: {{ .root.Values.distributed.secret | quote }}, defaultMode: 0440}
  {{- end }}
{{- with .root.Values.volumes }}
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Container settings of all components; `"certificates" true` for pods that connect to the Dask cluster. */ -}}
{{- define "rankery.image" -}}
image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  {{- toYaml .root.Values.containerSecurityContext | nindent 2 }}
resources:
  {{- toYaml .values.resources | nindent 2 }}
volumeMounts:
  - {name: scratch, mountPath: /var/lib/rankery, subPath: data}
  - {name: scratch, mountPath: /tmp, subPath: tmp}
  {{- if .certificates }}
  - {name: dask-certificates, mountPath: /etc/rankery/dask, readOnly: true}
  {{- end }}
{{- with .root.Values.volumeMounts }}
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Variables of `settings` and `environment`, without those that match the expression `"withheld"`. */ -}}
{{- define "rankery.settings" -}}
{{- $withheld := .withheld | default "^$" -}}
{{- range $name, $value := .root.Values.settings }}
{{- if not (regexMatch $withheld $name) }}
{{- /* Helm reads numbers as floats, and would write large ones as 3.4e+10. */}}
{{- $whole := and (kindIs "float64" $value) (eq (floor $value) $value) }}
- {name: {{ $name }}, value: {{ $whole | ternary (printf "%.0f" $value) (toString $value) | quote }}}
{{- end }}
{{- end }}
{{- range .root.Values.environment }}
{{- if not (regexMatch $withheld .name) }}
{{ toYaml (list .) }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "rankery.dask" -}}
- {name: RANKERY_DASK_SCHEDULER, value: "tls://{{ include "rankery.fullname" . }}-scheduler:8786"}
{{- range $name := list "ca" "cert" "key" }}
- {name: RANKERY_DASK_TLS_{{ upper $name }}_FILE, value: /etc/rankery/dask/{{ $name }}.pem}
{{- end }}
{{- end -}}

{{- define "rankery.container" -}}
{{ include "rankery.image" . }}
{{- with .root.Values.storage.secret }}
envFrom:
  - secretRef: {name: {{ . | quote }}}
{{- end }}
env:
  - name: RANKERY_DATABASE_URL
    valueFrom:
      secretKeyRef: {name: {{ .root.Values.database.secret | quote }}, key: {{ .root.Values.database.key | quote }}}
  - name: RANKERY_BROKER_URL
    valueFrom:
      secretKeyRef: {name: {{ .root.Values.broker.secret | quote }}, key: {{ .root.Values.broker.key | quote }}}
  - {name: RANKERY_STORAGE_URL, value: {{ required "storage.url is missing: the bucket of artifacts, s3://BUCKET/PREFIX" .root.Values.storage.url | quote }}}
  {{- with .root.Values.storage.region }}
  - {name: AWS_DEFAULT_REGION, value: {{ . | quote }}}
  {{- end }}
  {{- with .root.Values.storage.endpoint }}
  - {name: AWS_ENDPOINT_URL, value: {{ . | quote }}}
  {{- end }}
  {{- if .certificates }}
  {{- include "rankery.dask" .root | nindent 2 }}
  {{- end }}
  {{- include "rankery.settings" . | trim | nindent 2 }}
{{- end -}}
