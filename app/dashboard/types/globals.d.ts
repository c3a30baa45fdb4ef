/**
 * Types that the modules share, made from the OpenAPI document. `make check` generates `openapi.d.ts`.
 */
import type { components, paths } from "./openapi";

type Method = "get" | "post" | "put" | "patch" | "delete";

type WithoutQuery<Path> = Path extends `${infer Start}?${string}` ? Start : Path;

type Segments<Path> = Path extends `${infer Head}/${infer Tail}` ? [Head, ...Segments<Tail>] : [Path];

/** Whether the segments of a request's path fit those of a declared path, whose parameters are in braces. */
type Fits<Given, Template> = Given extends [infer Head, ...infer Tail]
  ? Template extends [infer Name, ...infer Names]
    ? Name extends `${string}{${string}`
      ? Fits<Tail, Names>
      : Head extends Name
        ? Fits<Tail, Names>
        : false
    : false
  : Template extends []
    ? true
    : false;

type DeclaredPath<Path> =
  WithoutQuery<Path> extends keyof paths
    ? WithoutQuery<Path>
    : {
        [Key in keyof paths]: Fits<Segments<WithoutQuery<Path>>, Segments<Key>> extends true ? Key : never;
      }[keyof paths];

/** The type of a response without its variant for requests with `fields`, which has only the selected fields. */
type Whole<Json> = Json extends unknown ? (components["schemas"]["SelectedFields"] extends Json ? never : Json) : never;

type Body<Operation> = Operation extends { responses: infer Responses }
  ? {
      [Status in keyof Responses & (200 | 201 | 202)]: Responses[Status] extends {
        content: { "application/json": infer Json };
      }
        ? Whole<Json>
        : never;
    }[keyof Responses & (200 | 201 | 202)]
  : unknown;

declare global {
  /** The schemas of the OpenAPI document: `Schemas["Job"]`. */
  type Schemas = components["schemas"];

  /** Objects that many modules name. */
  type Job = Schemas["Job"] & Partial<Pick<Schemas["JobWithAttempts"], "attempts">>;
  type Study = Schemas["Study"];
  type Trial = Schemas["Trial"];
  type Dataset = Schemas["Dataset"];
  type Evaluation = Schemas["Evaluation"];
  type Interleaving = Schemas["Interleaving"];
  type ClickLog = Schemas["ClickLog"];
  type Experiment = Schemas["Experiment"];
  type Model = Schemas["Model"];
  type LearningCurves = Omit<Schemas["JobHistory"], "job_id">;
  type Figure = import("../static/figures/frame.js").Figure;
  type Series = import("../static/figures/frame.js").Series;
  type Column<Row> = import("../static/tables/table.js").Column<Row>;
  type ListColumn = import("../static/tables/list.js").ListColumn;
  type Ticked = import("../static/tables/list.js").Ticked;

  /** The JSON that the API returns for a path: `Answer<"/v1/jobs?limit=50">`; `unknown` if the path is any string. */
  type Answer<Path extends string, HttpMethod extends Method = "get"> = string extends Path
    ? unknown
    : Path extends "/openapi.json"
      ? OpenApi
      : Body<paths[DeclaredPath<Path>][HttpMethod & keyof paths[DeclaredPath<Path>]]>;

  /** One page of a list that the API returns, and one item of the page. */
  type Page<Path extends string> = Answer<Path> & { items: PageItem<Path>[]; next_cursor: string | null };
  type PageItem<Path extends string> = Answer<Path> extends { items: (infer Entry)[] } ? Entry : never;

  /** A JSON schema of the OpenAPI document. */
  interface Schema {
    type?: string;
    enum?: string[];
    const?: Json;
    default?: Json;
    description?: string;
    examples?: (string | number)[];
    anyOf?: Schema[];
    oneOf?: Schema[];
    items?: Schema;
    $ref?: string;
    discriminator?: { propertyName: string; mapping: Record<string, string> };
    minimum?: number;
    exclusiveMinimum?: number;
    maximum?: number;
    properties?: Record<string, Schema>;
    required?: string[];
  }
  type SchemasByName = Record<string, Schema>;

  interface SchemaDocument {
    components: { schemas: SchemasByName };
  }

  /** The parts of the OpenAPI document that pages read. */
  interface OpenApi extends SchemaDocument {
    paths: Record<string, { post: { requestBody: { content: { "application/json": { schema: Schema } } } } }>;
  }

  type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

  /** The conventions of a metric: gain, discount, ties and so on. */
  type Contract = Record<string, Json>;

  type LossParameters = { name: string } & Record<string, Json>;

  /** Values by metric, such as `metrics["ndcg@10"]`. */
  type Metrics = Record<string, number | null>;

  /** Statistics of a dataset. Datasets of earlier releases lack the optional fields. */
  interface Statistics {
    queries: number;
    documents: number;
    features: number;
    labels?: { label: number; documents: number }[];
    label_range?: { minimum: number; maximum: number; missing: number; whole: boolean };
    documents_per_query?: {
      min: number;
      median: number;
      mean: number;
      max: number;
      quantiles?: Record<string, number>;
      histogram?: { from: number; to: number; queries: number }[];
    };
    queries_without_relevant: number;
    queries_with_one_label: number;
    texts?: string[];
    query_columns?: Record<string, { value: string; queries: number }[]>;
  }

  /** Specification of a job; its fields depend on the kind. */
  interface JobSpecification {
    [name: string]: Json | undefined;
    dataset_id?: string;
    validation_dataset_id?: string | null;
    test_dataset_id?: string | null;
    model_id?: string;
    model_name?: string;
    loss?: LossParameters;
    scorer?: { [name: string]: Json | undefined; kind: string } | null;
    contract?: Contract;
    metrics?: string[];
    limits?: { seconds: number | null; memory_bytes: number | null };
  }

  /** Result of a job; its fields depend on the kind. */
  interface JobResult {
    dataset_id?: string;
    model_id?: string;
    ranking_id?: string;
    evaluation_id?: string;
    comparison_id?: string;
    inspection_id?: string;
    drift_report_id?: string;
    sentence?: string;
    equal?: boolean;
    differences?: { what: string; then: string; now: string }[];
    stored_sha256?: string;
    expected_sha256?: string;
    sha256?: string;
    cross_validation?: CrossValidation;
  }

  /** A mean with its interval. The bounds are null if there are too few values, such as one fold. */
  interface MeanInterval {
    mean: number | null;
    lower: number | null;
    upper: number | null;
  }

  /** Metrics of a training by fold; each fold is measured with a model that was not trained on it. */
  interface CrossValidation {
    metrics: Record<string, MeanInterval>;
    queries: number;
    cross_validation: {
      best_iteration: number;
      folds: { fold: string; queries: number; documents: number; best_iteration: number; metrics: Metrics }[];
      over_folds: Record<string, MeanInterval | null>;
      ranking_id?: string;
    };
  }

  /** Report of an alias's gate about a promotion. */
  interface GateReport {
    sentence?: string;
    evaluation_id?: string;
    comparison_id?: string;
    rule?: { metric?: string };
    paired?: {
      mean_a: number;
      mean_b: number;
      difference: number;
      lower: number | null;
      upper: number | null;
      randomisation_p: number;
      queries: number;
    } | null;
    counterfactual?: CounterfactualResult | null;
    slices?: {
      by: string;
      value: string;
      queries: number;
      champion: number;
      challenger: number;
      drop: number;
      refused: boolean;
    }[];
  }

  /** A child of an element; false, null and undefined are left out. */
  type Child = Node | string | number | null | undefined | false;
  type Children = Child | Children[];

  type AttributeValue = string | number | boolean | null | undefined;

  /** A function that is registered with `addEventListener` for the event with the attribute's name. */
  type Listener = (event: any) => unknown;

  type Attributes = { [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => unknown } & {
    [name: string]: AttributeValue | Listener;
  };

  /** A tag, and classes after dots: `span.status`. */
  type Selector<Tag extends string> = Tag | `${Tag}.${string}`;
  type TagOf<Given> = Given extends `${infer Tag}.${string}` ? Tag : Given;

  /** The children of an element, which its attributes may precede. */
  type Content = [attributes: Attributes, ...children: Children[]] | Children[];

  /** Headings of columns: texts, cells, and groups of both. */
  type Heads = (Child | Child[])[];

  /** A problem that `problemBox` shows: an error of the API, the reason why a job failed, or an error in a file. */
  interface ShownProblem {
    title?: string | null;
    detail?: string | null;
    message?: string | null;
    file?: string | null;
    line?: number | null;
    column?: string | number | null;
    text?: string | null;
  }

  interface Window {
    /** Swagger UI, from the package that serves `/docs`. */
    SwaggerUIBundle: { (options: object): void; presets: { apis: object }; SwaggerUIStandalonePreset: object };
  }
}
