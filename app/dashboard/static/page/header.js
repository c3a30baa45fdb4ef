/** The header: navigation, search and theme. @module */
import { offerPendingUndo } from "../lifecycle/undo.js";
import { chooseTheme, chosenTheme, THEMES } from "./chosen_theme.js";
import { elementById, find, findAll, requireScope, setAttribute, setText } from "./dom.js";
import { bindMenus } from "./menus.js";
import { openSearch } from "./search.js";
import { goByKey, openShortcuts } from "./shortcuts.js";
import { bindToolbar } from "./toolbar.js";

const themeButton = elementById("theme");

function showTheme() {
  const words = `Theme: ${chosenTheme()}`;
  setAttribute(themeButton, "title", words);
  setText(find(themeButton, ".visually-hidden"), words);
}

themeButton.addEventListener("click", () => {
  chooseTheme(THEMES[(THEMES.indexOf(chosenTheme()) + 1) % THEMES.length]);
});
document.addEventListener("themechange", showTheme);
showTheme();

for (const control of findAll(document, "[data-needs]", HTMLElement))
  requireScope(control, control.dataset.needs ?? "");
offerPendingUndo();
bindMenus();
bindToolbar(find(document, ".tools"));

elementById("search").addEventListener("click", openSearch);
document.addEventListener("keydown", (event) => {
  const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
  if (altKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  const typing = /** @type {HTMLElement} */ (target).closest("input, select, textarea, [contenteditable]");
  if (ctrlKey || metaKey) {
    if (key !== "k" || shiftKey) return;
    openSearch();
  } else if (typing) return;
  else if (key === "/") openSearch();
  else if (key === "?") openShortcuts();
  else if (!goByKey(event)) return;
  event.preventDefault();
});
