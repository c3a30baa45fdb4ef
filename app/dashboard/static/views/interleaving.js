/**
 * `/interleavings/{id}`: one interleaving: its verdict, the share of preferences so far, its rankers, and client code.
 * @module
 */
import { actionButton } from "../page/actions.js";
import { tileList } from "../figures/marks.js";
import { creditTable, deltaFigure, differenceLabel, neededLabel, preferenceFigure } from "../interleavings/verdict.js";
import { confirmedDeleteButton } from "../lifecycle/confirmed_deletion.js";
import { clickLogPage, interleavingApi, modelPage, openPage, pageObjectId, serviceUrl } from "../page/paths.js";
import { conditionalReader, creator } from "../page/api.js";
import { failureBox, showMissing, showOnly, snippet } from "../page/content.js";
import { announce, elementById, h, replace } from "../page/dom.js";
import { hint, metaLine, panel } from "../page/parts.js";
import { count, counted, duration, timeElement } from "../page/format.js";
import { poll } from "../page/poll.js";

const CONSEQUENCE = "Its lists and clicks are deleted permanently; they cannot be restored.";

const id = pageObjectId();
const container = elementById("interleaving");
const read = conditionalReader();
const readVerdict = conditionalReader();
const result = h("div.view");
/** @type {Interleaving | null} */ let shown = null;
/** @type {Schemas["InterleavingVerdict"] | null} */
let shownVerdict = null;

poll(refresh, (problem) => showMissing(container, problem, { noun: "interleaving", id, list: "/interleavings" }));

async function refresh() {
  const [interleaving, verdict] = await Promise.all([
    read(interleavingApi(id)),
    readVerdict(interleavingApi(id, "/verdict")),
  ]);
  if (interleaving !== shown) draw(interleaving);
  if (verdict !== shownVerdict) {
    if (shownVerdict && shownVerdict.sentence !== verdict.sentence) announce(verdict.sentence);
    shownVerdict = verdict;
    replace(result, ...verdictParts(interleaving, verdict));
  }
  return false;
}

/** @param {Interleaving} interleaving */
function draw(interleaving) {
  shown = interleaving;
  document.title = `${interleaving.name} · Rankery`;
  showOnly(container, [
    h("div.page-head", [
      h("h1", interleaving.name),
      h("div.actions", clickLogButton(), confirmedDeleteButton("interleavings", interleaving, CONSEQUENCE)),
    ]),
    metaLine(
      interleaving.method.replaceAll("_", " "),
      ["created ", timeElement(interleaving.created_at)],
      h("code", id),
    ),
    result,
    rankers(interleaving),
    clientCode(interleaving),
  ]);
}

/** @param {Interleaving} interleaving @param {Schemas["InterleavingVerdict"]} verdict @returns {Child[]} */
function verdictParts({ unit, difference }, verdict) {
  const { sentence, lists, clicked_lists: clicked, waiting_lists: waiting, sample_size: size, pairs } = verdict;
  const decided = Math.max(0, ...pairs.map((pair) => pair.decided));
  const figures = pairs.map((pair) => preferenceFigure(pair, unit)).filter((figure) => figure !== null);
  return [
    panel("Verdict", [
      h("p.sentence", sentence),
      tileList([
        ["Lists shown", count(lists)],
        ["Lists with a click", count(clicked), waiting > 0 && `${counted(waiting, "list")} may still get one`],
        [`Decided ${unit}s`, count(decided), neededLabel(pairs, unit)],
        ["Fixed sample size", count(size), `if ${differenceLabel(difference, pairs)}`],
      ]),
    ]),
    figures.length > 0 &&
      panel("The test so far", [
        ...figures,
        hint(
          "The test ends where the share is far enough from one half, or where a difference of interest is excluded. Frequent checks do not increase its error.",
        ),
      ]),
    clicked > 0 &&
      panel("Credit", [
        creditTable(pairs),
        h("h3", "Share of the first ranker above one half"),
        deltaFigure(pairs),
        hint("Over all lists with a click; 95% intervals by bootstrap over users."),
      ]),
  ];
}

/** Show the rankers, with links to the aliases of models. @param {Interleaving} interleaving */
function rankers({ rankers: names, model_ids: models, unit, click_window_seconds: window, length, error, miss }) {
  const settings = [
    `of up to ${count(length)} documents`,
    `decisions by ${unit}`,
    window > 0 ? `clicks count for ${duration(window)}` : "clicks always count",
    `error ${error}, miss ${miss}`,
  ];
  return panel("Rankers", [
    h(
      "ul.rankers",
      names.map((name) =>
        h(
          "li",
          models ? h("a", { href: modelPage(name) }, name) : name,
          models && [" · ", h("a", { href: `${modelPage(name)}#view=aliases` }, `Aliases and gates of ${name}`)],
        ),
      ),
    ),
    hint(`Lists ${settings.join("; ")}.`),
  ]);
}

/** Show client code for a search engine, which requests lists and sends clicks. @param {Interleaving} interleaving */
function clientCode({ rankers: names, model_ids: models }) {
  const documents = '[{"id": "d1", "features": {"bm25": 12.5}}, {"id": "d2", "features": {"bm25": 9.1}}]';
  const rankings = `{${names.map((name) => `${JSON.stringify(name)}: ["d1", "d2"]`).join(", ")}}`;
  const input = models ? `documents=${documents}` : `rankings=${rankings}`;
  const code = `import rankery

client = rankery.Client(${JSON.stringify(serviceUrl())})
shown = client.interleaved_list(${JSON.stringify(id)}, "red shoes", user="u-17", ${input})
client.send_clicks(${JSON.stringify(id)}, [(shown.ranking_id, "d1")])
`;
  return h("details.panel.as-code", [
    h("summary", h("h2", "Show lists and send clicks")),
    h("div", snippet("Python", code)),
  ]);
}

/** Return the button that makes a click log of the lists and opens it. */
function clickLogButton() {
  const create = creator();
  const make = async () => {
    const log = await create("/v1/click-logs/interleaved", { interleaving_id: id });
    openPage(clickLogPage(log.id));
    // The button stays disabled until the browser has left this page, or comes back to it.
    return new Promise((resolve) => addEventListener("pageshow", resolve, { once: true }));
  };
  const refused = (/** @type {unknown} */ error, /** @type {() => void} */ retry) => {
    const box = failureBox(error, () => {
      box.remove();
      retry();
    });
    container.prepend(box);
  };
  return actionButton("Make a click log", "quiet", make, refused, { needs: "write" });
}
