/** The aliases of a model name: target, gate, history, promotion. @module */
import { field, textInput } from "../forms/controls.js";
import { actionButton } from "../page/actions.js";
import { estimates } from "../clicks/counterfactual.js";
import { signed, verdictChip } from "../evaluation/verdict.js";
import { onSubmit } from "../forms/forms.js";
import { aliasApi, gatePanel, setAlias } from "./gates.js";
import { offerUndo } from "../lifecycle/undo.js";
import { jobPage, modelApi, modelPage } from "../page/paths.js";
import { creator, get, request } from "../page/api.js";
import { failureBox, loadInto } from "../page/content.js";
import { announce, h, replace, setText } from "../page/dom.js";
import {
  confirmed,
  dataTable,
  disclosure,
  emptyState,
  factList,
  hint,
  numberHeads,
  statusBadge,
} from "../page/parts.js";
import { count, metric, pValue, timeElement } from "../page/format.js";

const HISTORY_PAGE_SIZE = 10;
/** @type {Record<string, string>} */ const KINDS = {
  moved: "moved",
  promoted: "promoted",
  refused: "refused",
  rolled_back: "rolled back",
  removed: "removed",
};
/** @type {Record<string, string>} */
const STATUSES = { promoted: "succeeded", refused: "refused", rolled_back: "queued" };

/** @param {string} name @param {string} alias @returns {{node: HTMLElement, refresh: () => void}} */
function aliasHistory(name, alias) {
  const container = h("div");
  const node = h("details.more.alias-history", { open: true }, h("summary", "History"), container);
  const refresh = () => loadInto(container, () => read());

  /** @param {string | null} [cursor] @returns {Promise<Child[]>} */
  async function read(cursor) {
    const page = await get(
      aliasApi(
        name,
        alias,
        `/history?${new URLSearchParams({ limit: String(HISTORY_PAGE_SIZE), ...(cursor && { cursor }) })}`,
      ),
    );
    const list = h("ol.moves-made", ...page.items.map((move) => entry(name, move)));
    const more = page.next_cursor && h("button.quiet.small", { click: older }, "Older");
    async function older() {
      const rest = h("div");
      if (more) more.replaceWith(rest);
      await loadInto(rest, () => read(page.next_cursor));
    }
    return [list, more];
  }

  refresh();
  return { node, refresh };
}

/** @param {string} name @param {Schemas["AliasMove"]} move */
function entry(name, { kind, from_version: from, to_version: to, key_id: key, job_id: job, report, at }) {
  /** @param {number | null} number */
  const version = (number) => (number === null ? "none" : h("a", { href: modelPage(`${name}:${number}`) }, number));
  return h("li", { "data-kind": kind }, [
    statusBadge(STATUSES[kind] || "running", KINDS[kind] || kind),
    h("div", [
      h("p", [
        version(from),
        " → ",
        version(to),
        h("small", [
          " · ",
          timeElement(at),
          key && [" · by ", h("code", key)],
          job && [" · ", h("a", { href: jobPage(job) }, "job")],
        ]),
      ]),
      report && hint(`${report.sentence}.`),
      report?.paired && comparedMeans({ ...report, paired: report.paired }),
      report?.counterfactual &&
        disclosure(
          `Estimated from clicks, ${report.counterfactual.metric}`,
          estimates(report.counterfactual, (system) => (system.startsWith(`${name}:`) ? modelPage(system) : null)),
        ),
    ]),
  ]);
}

/**
 * Show the means of the champion (before) and of the challenger (after), and the segments that the gate compared.
 * @param {GateReport & {paired: NonNullable<GateReport["paired"]>}} report
 */
function comparedMeans({ paired, slices, rule }) {
  return disclosure(`In numbers${rule?.metric ? `, ${rule.metric}` : ""}`, [
    factList("figures", [
      ["before", metric(paired.mean_a)],
      ["after", metric(paired.mean_b)],
      ["difference", signed(paired.difference)],
      ["95% interval", paired.lower === null ? "none" : `${signed(paired.lower)} to ${signed(paired.upper)}`],
      ["p", pValue(paired.randomisation_p)],
      ["queries", count(paired.queries)],
    ]),
    !!slices?.length && segmentTable(slices),
  ]);
}

/** @param {NonNullable<GateReport["slices"]>} slices */
function segmentTable(slices) {
  const heads = ["Segment", numberHeads("Queries", "Before", "After", "Drop"), ""];
  return dataTable("Segments", heads, slices, ({ by, value, queries, champion, challenger, drop, refused }) => [
    `${by}: ${value || "(empty)"}`,
    count(queries),
    metric(champion),
    metric(challenger),
    signed(drop),
    refused && verdictChip("worse"),
  ]);
}

/**
 * Return the panel of one alias: target, actions, gate and history.
 * @param {Schemas["Model"]} model the version of this page
 * @param {Schemas["Alias"]} assignment of the alias to a version
 * @param {() => void} changed called after the alias was moved or removed
 */
function aliasCard(model, assignment, changed) {
  const { alias, version, updated_at: updated } = assignment;
  const { name } = model;
  const container = h("div.alias-job", { hidden: true });
  const history = aliasHistory(name, alias);
  const postOnce = creator();
  /** @param {string} words @param {string} kind @param {() => Promise<void>} act */
  const action = (words, kind, act) => actionButton(words, kind, act, container, { needs: "write" });

  /** Promote the version. The reason of a refusal stays visible; the report of a promotion is in the history. */
  async function move() {
    if (await setAlias(model, alias, container)) changed();
    else history.refresh();
  }

  async function rollBack() {
    const sure = await confirmed(`Roll ${name}@${alias} back?`, "Roll back", [
      `The alias returns to the version before its last move, immediately, ignoring its gate. From then on, that version serves all requests to the alias.`,
    ]);
    if (!sure) return;
    const { version: restored } = await postOnce(aliasApi(name, alias, "/rollback"), undefined);
    announce(`${name}@${alias} is version ${restored} again.`);
    changed();
  }

  async function remove() {
    const sure = await confirmed(`Remove ${name}@${alias}?`, "Remove", [
      "From then on, requests to the alias are refused. Its history and its gate are kept.",
    ]);
    if (!sure) return;
    await request(aliasApi(name, alias), { method: "DELETE" });
    offerUndo({ words: `${name}@${alias} was removed.`, ids: [], create: recreate });
    changed();
  }

  /** Set the removed alias to its previous version; if it was set in the meantime, its gate decides. */
  async function recreate() {
    const { status } = await request(aliasApi(name, alias), { method: "PUT", json: { version } });
    changed();
    return status === 202 ? "The alias was set in the meantime, so a job checks its gate first." : "Restored.";
  }

  return h("article.panel.alias", { "data-alias": alias }, [
    h("div.panel-head", [
      h("h2", [
        h("span.alias-name", `@${alias}`),
        " is ",
        version === model.version
          ? "this version"
          : h("a", { href: modelPage(`${name}:${version}`) }, `version ${version}`),
        h("small", " since ", timeElement(updated)),
      ]),
      h("div.actions", [
        version !== model.version && action(`Promote version ${model.version}`, "small", move),
        action("Roll back", "quiet small", rollBack),
        action("Remove", "quiet small danger", remove),
      ]),
    ]),
    container,
    gatePanel(name, assignment),
    history.node,
  ]);
}

/**
 * Show the gate of an alias that points at no version.
 * @param {Schemas["Model"]} model @param {string} alias
 * @param {() => void} changed called when the alias was set
 */
function gatedCard(model, alias, changed) {
  const container = h("div.alias-job", { hidden: true });
  const move = async () => {
    if (await setAlias(model, alias, container)) changed();
  };
  return h("article.panel.alias", { "data-alias": alias }, [
    h("div.panel-head", [
      h("h2", h("span.alias-name", `@${alias}`), " has no version"),
      h("div.actions", actionButton(`Promote version ${model.version}`, "small", move, container, { needs: "write" })),
    ]),
    container,
    gatePanel(model.name, { alias, gated: true }),
  ]);
}

/** @param {Schemas["Model"]} model @returns {Promise<Node[]>} */
export async function aliasesView(model) {
  const list = h("div.models");
  const form = newAliasForm(model, refresh);
  await refresh();
  return [list, form.node];

  /** Draw all aliases again. */
  async function refresh() {
    const { items, gates_without_version: gated = [] } = await get(modelApi(model.name, "/aliases"));
    const again = () => refresh().catch((error) => replace(list, failureBox(error, again)));
    const noAlias = emptyState(
      `${model.name} has no alias yet`,
      `An alias is a fixed name for the version in use: the version that it points at serves requests to ${model.name}@champion.`,
    );
    const cards = [
      ...items.map((alias) => aliasCard(model, alias, again)),
      ...gated.map((alias) => gatedCard(model, alias, again)),
    ];
    replace(list, ...(cards.length ? cards : [noAlias]));
    form.propose(items.length === 0);
  }
}

const DEFAULT_ALIAS = "champion";

/** @param {Schemas["Model"]} model @param {() => Promise<void>} done */
function newAliasForm(model, done) {
  const name = textInput({ "data-pointer": "/alias" });
  const heading = h("h2");
  const container = h("div", { hidden: true });
  const form = h("form.panel.form.alias-form", { novalidate: true }, [
    heading,
    h("div.summary", { hidden: true }),
    field(["Name ", h("small", "lower case letters, digits, . _ -")], name),
    h("div.actions", h("button.primary", { type: "submit" }, `Promote version ${model.version}`)),
    container,
  ]);
  onSubmit(form, async () => {
    if (!name.value.trim()) return name.focus();
    if (!(await setAlias(model, name.value.trim(), container))) return;
    name.value = "";
    await done();
  });
  return {
    node: form,
    /** Propose the default name where the model has no alias. @param {boolean} none */
    propose(none) {
      setText(heading, none ? "First alias" : "Another alias");
      name.placeholder = none ? DEFAULT_ALIAS : "staging";
      if (none && !name.value) name.value = DEFAULT_ALIAS;
    },
  };
}
