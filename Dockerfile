# The image of the API and of the workers, for x86 and ARM:
#   docker buildx build --platform linux/amd64,linux/arm64 --tag rankery .
# Compile each platform's kernels for its oldest supported processor, not the build machine's, so that no
# container compiles them again.
ARG TARGETARCH

FROM python:3.11-slim-bookworm AS system
ENV PATH=/opt/rankery/bin:$PATH \
    NUMBA_CACHE_DIR=/opt/rankery/kernels
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/*

FROM system AS system-amd64
# With AVX2, as servers have it since 2013.
ENV NUMBA_CPU_NAME=x86-64-v3 NUMBA_CPU_FEATURES=""

FROM system AS system-arm64
ENV NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES=""

# hadolint ignore=DL3006
FROM system-${TARGETARCH} AS build
WORKDIR /src
COPY requirements/installer.lock requirements/extras.lock requirements/build.lock requirements/
ENV UV_NO_CACHE=1 PATH=/opt/build/bin:$PATH
RUN python -m venv /opt/rankery \
    && pip install --no-cache-dir --require-hashes --target /opt/build --requirement requirements/installer.lock \
    && uv pip sync --python /opt/rankery --require-hashes requirements/extras.lock \
    && uv pip install --python /opt/rankery --target /opt/build --require-hashes --requirement requirements/build.lock
COPY pyproject.toml README.md LICENSE mkdocs.yml ./
COPY app app
COPY worker worker
COPY core core
COPY rankery rankery
COPY server server
COPY guide guide
COPY docs docs
RUN export PYTHONPATH=/opt/build \
    && python -m guide \
    && pip install --no-cache-dir --no-deps --no-build-isolation . ./server
WORKDIR /
RUN rankery warm-up

# hadolint ignore=DL3006
FROM system-${TARGETARCH}
RUN useradd --uid 10001 --create-home rankery \
    && install -d -o rankery -g rankery /var/lib/rankery
COPY --from=build --chown=rankery:rankery /opt/rankery /opt/rankery
ENV PYTHONUNBUFFERED=1 \
    RANKERY_DATA_DIR=/var/lib/rankery
# By number: Kubernetes does not resolve names when it refuses root.
USER 10001:10001
WORKDIR /var/lib/rankery
VOLUME /var/lib/rankery
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["rankery", "health", "api"]
ENTRYPOINT ["rankery"]
CMD ["api"]
