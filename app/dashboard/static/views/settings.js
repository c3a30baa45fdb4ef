/** `/settings`: the theme of the dashboard, and the settings that the service has read. @module */
import { searchField } from "../forms/controls.js";
import { get } from "../page/api.js";
import { withCode, loadInto } from "../page/content.js";
import { elementById, h, replace, setAttribute } from "../page/dom.js";
import { chooseTheme, chosenTheme } from "../page/chosen_theme.js";
import { settingLabel } from "../settings/labels.js";
import { sortableTable } from "../tables/table.js";

const THEMES = { system: "As the system", light: "Light", dark: "Dark" };

const buttons = Object.entries(THEMES).map(([theme, label]) =>
  h("button", { value: theme, click: () => chooseTheme(theme) }, label),
);
replace(elementById("themes"), ...buttons);
document.addEventListener("themechange", showTheme);
showTheme();
loadInto(elementById("settings"), async () => settingsTable((await get("/v1/settings")).items));

function showTheme() {
  for (const button of buttons) setAttribute(button, "aria-pressed", String(button.value === chosenTheme()));
}

/** @param {Schemas["Setting"][]} items */
function settingsTable(items) {
  const table = sortableTable(
    [
      { label: "Variable", value: ({ name }) => name, cell: ({ name }) => variable(name) },
      { label: "Value", value: ({ value }) => value, cell: shownValue },
      {
        label: "Default",
        value: (setting) => setting.default,
        cell: (setting) => h("span.name", settingLabel(setting.name, setting.default) || "–"),
      },
      {
        label: "Meaning",
        value: ({ description }) => description,
        cell: ({ description }) => h("span.wrap", ...withCode(description)),
      },
    ],
    { label: "Settings", order: { by: "Variable", descending: false } },
  );
  const field = searchField("Find a setting", "Name or meaning", { input: applyFilter });
  const changed = h("input", { type: "checkbox", change: applyFilter });
  function applyFilter() {
    const text = field.value.trim().toLowerCase();
    const matches = (/** @type {Schemas["Setting"]} */ { name, description }) =>
      `${name} ${description}`.toLowerCase().includes(text);
    table.show(items.filter((setting) => matches(setting) && (setting.changed || !changed.checked)));
  }
  applyFilter();
  return [h("div.filters", field, h("label.check", changed, " Changed only")), table.node];
}

/** Write a name that may break after each underscore. @param {string} name */
function variable(name) {
  const [first, ...rest] = name.split("_");
  return h("code.wrap", first, ...rest.flatMap((word) => ["_", h("wbr"), word]));
}

/** @param {Schemas["Setting"]} setting */
function shownValue({ name, value, changed }) {
  const label = settingLabel(name, value);
  return h("span", { class: changed ? "unusual name" : "name", title: label !== value && value }, label || "–");
}
