/**
 * Column roles: a guess by names and values, and the request's `columns`, which declares roles that the service would not
 * detect. @module
 */

/** @typedef {Record<string, string[]>} UsualNames column names that the service recognises, by role */
/** @typedef {Record<string, string | string[]>} Columns names of columns by role, the request's `columns` */

const FEATURE = "features";
/** Roles that at most one column has. @type {[role: string, label: string][]} */
const SINGLE_COLUMN = [
  ["label", "label"],
  ["query", "query"],
  ["document", "document"],
  ["query_weight", "query weight"],
  ["document_weight", "document weight"],
  ["query_text", "query text"],
  ["document_title", "document title"],
  ["document_url", "document URL"],
];
/** Roles that any number of columns can have. @type {[role: string, label: string][]} */
const MULTI_COLUMN = [
  [FEATURE, "feature"],
  ["categorical_features", "category"],
  ["query_columns", "query column"],
  ["document_columns", "document column"],
  ["ignore", "left out"],
];
export const ROLES = [...SINGLE_COLUMN, ...MULTI_COLUMN];
const SINGLE_ROLES = SINGLE_COLUMN.map(([role]) => role);
/** Roles of text columns: a column with a usual name gets the role only if its values are texts. */
const TEXT_ROLES = ["query_text", "document_title", "document_url"];
/** Roles of the column with the first usual name; others with usual names are then columns of the document. */
const ROLES_OF_DOCUMENTS = ["document", "document_weight"];
/** Patterns of likely column names, for roles that no column has by a usual name. @type {[role: string, pattern: RegExp][]} */
const LIKELY_NAMES = [
  ["label", /label|relevan|grade|judg|rating|gain/i],
  ["query", /quer|search|qid|keyword|term/i],
  ["document", /doc|sku|item|product|asin|url/i],
];

/** Missing values, and values that count as numbers, as in the service. A decimal comma counts, too, since the service refuses it with a message. */
const MISSING = new Set(["", "NA", "N/A", "n/a", "<NA>", "#N/A", "NULL", "null", "None", "NaT"]);
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$|^[+-]?\d*,\d+$|^[+-]?(nan|inf|infinity)$|^(true|false)$/i;

/**
 * Return the role that the service assigns to each column without `columns` in the request. Where the service finds
 * several columns for a role, and therefore refuses the file, each of them has the role.
 * @param {string[]} header @param {string[][]} rows @param {UsualNames} usual
 */
export function automaticRoles(header, rows, usual) {
  const hasTexts = header.map((_, column) => isText(rows, column));
  const names = header.map(normalised);
  /** @type {string[]} */ const roles = hasTexts.map((isText) => (isText ? "query_columns" : FEATURE));
  for (const role of SINGLE_ROLES) {
    const free = [...names.keys()].filter((column) => !SINGLE_ROLES.includes(roles[column]));
    const matching = free.filter(
      (column) => usual[role]?.includes(names[column]) && (hasTexts[column] || !TEXT_ROLES.includes(role)),
    );
    const ids = matching.filter((column) => role !== "document" || !usual.document_url?.includes(names[column]));
    const candidates = ids.length ? ids : matching; // a URL is the document only without an id
    const first = candidates.filter((column) => names[column] === usual[role]?.[0]);
    const others = candidates.filter((column) => !first.includes(column));
    const isOfDocument = ROLES_OF_DOCUMENTS.includes(role);
    const isFirstTaken =
      first.length === 1 && (isOfDocument || (role === "query" && others.every((column) => hasTexts[column])));
    if (isFirstTaken && isOfDocument) for (const column of others) roles[column] = "document_columns";
    const taken = isFirstTaken ? first : candidates;
    for (const column of TEXT_ROLES.includes(role) ? taken.slice(0, 1) : taken) roles[column] = role;
  }
  return roles;
}

/** @param {string} name */
const normalised = (name) => name.toLowerCase().replace(/[- ]/g, "_");

/** Return the likely roles of columns. @param {string[]} header @param {string[][]} rows @param {UsualNames} usual */
export function guessedRoles(header, rows, usual) {
  const roles = automaticRoles(header, rows, usual);
  for (const [role, pattern] of LIKELY_NAMES) {
    if (roles.includes(role)) continue;
    const index = header.findIndex(
      (name, column) =>
        pattern.test(name) &&
        !SINGLE_ROLES.includes(roles[column]) &&
        (role === "label" ? isGrade(rows, column) : role !== "document" || isText(rows, column)),
    );
    if (index >= 0) roles[index] = role;
  }
  const query = roles.indexOf("query");
  return roles.map((role, column) =>
    role === "query_columns" && query >= 0 && varies(rows, column, query) ? "document_columns" : role,
  );
}

/**
 * Return the role of each column: as in the `columns` of an earlier upload, else as the service would detect it.
 * @param {string[]} header @param {string[][]} rows @param {UsualNames} usual @param {Columns} columns
 */
export function rolesOf(header, rows, usual, columns) {
  const requested = new Map(
    Object.entries(columns).flatMap(([role, names]) => [names].flat().map((name) => [String(name), role])),
  );
  const otherUsualNames = Object.fromEntries(Object.entries(usual).filter(([role]) => !(role in columns)));
  return automaticRoles(header, rows, otherUsualNames).map((role, column) => requested.get(header[column]) ?? role);
}

/**
 * Return the request's `columns`: the roles that differ from those that the service detects.
 * @param {string[]} header @param {string[]} roles @param {string[]} automatic
 */
export function columnsOf(header, roles, automatic) {
  /** @type {Columns} */ const columns = {};
  const changed = header.map((_, column) => roles[column] !== automatic[column]);
  for (const [column, name] of header.entries()) {
    const role = roles[column];
    if (!changed[column] || role === FEATURE) continue;
    if (SINGLE_ROLES.includes(role)) columns[role] = name;
    else columns[role] = [...[columns[role] ?? []].flat(), name];
  }
  // A column with a changed role becomes a feature only if the request names all features.
  if (roles.some((role, column) => changed[column] && role === FEATURE))
    columns[FEATURE] = header.filter((_, column) => roles[column] === FEATURE);
  return columns;
}

/**
 * Give a column a role. If only one column can have it, the column that had it gets the other's role.
 * @param {string[]} roles @param {number} column @param {string} role
 */
export function exchangeRole(roles, column, role) {
  const holder = SINGLE_ROLES.includes(role) ? roles.indexOf(role) : -1;
  if (holder >= 0) roles[holder] = roles[column];
  roles[column] = role;
}

/** Return the problems of roles, such as a label that is missing. @param {string[]} roles */
export function roleProblems(roles) {
  const missing = ["label", "query"].filter((role) => !roles.includes(role)).map((role) => `No column is the ${role}.`);
  const twice = SINGLE_COLUMN.filter(([role]) => roles.filter((each) => each === role).length > 1).map(
    ([, label]) => `Several columns are the ${label}.`,
  );
  return [...missing, ...twice];
}

/** Return the names of the columns that are described as columns of queries or documents, or are left out. @param {string[]} header @param {string[]} roles */
export const otherColumns = (header, roles) =>
  header.filter((_, column) => ["query_columns", "document_columns", "ignore"].includes(roles[column]));

/** Check whether most values are not numbers; a few texts among numbers are treated as mistakes. @param {string[][]} rows @param {number} column */
function isText(rows, column) {
  const values = rows.map((row) => row[column].trim()).filter((value) => !MISSING.has(value));
  return values.filter((value) => !NUMBER.test(value)).length > values.length / 2;
}

/** Check whether the values of a column are a few small whole numbers. @param {string[][]} rows @param {number} column */
function isGrade(rows, column) {
  const values = new Set(rows.map((row) => row[column].trim()));
  return values.size <= 32 && [...values].every((value) => value === "" || /^\d{1,2}(\.0*)?$/.test(value));
}

/** Check whether a column has several values in one query. @param {string[][]} rows @param {number} column @param {number} query */
function varies(rows, column, query) {
  /** @type {Map<string, string>} */ const values = new Map();
  return rows.some((row) => {
    const known = values.get(row[query]);
    values.set(row[query], row[column]);
    return known !== undefined && known !== row[column];
  });
}
