/**
 * The header: navigation, search and theme.
 * @module
 */
import { offerCarriedUndo } from "../lifecycle/undo.js";
import { chooseTheme, chosenTheme, THEMES } from "./chosen_theme.js";
import { elementById, find, setAttribute, setText } from "./dom.js";
import { openSearch } from "./search.js";

const current = document.querySelector('nav[aria-label="Main"] [aria-current]');
// Where the line is longer than the window, it begins at the page that is open.
current?.scrollIntoView({ block: "nearest", inline: "center" });

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

offerCarriedUndo();

elementById("search").addEventListener("click", openSearch);
document.addEventListener("keydown", (event) => {
  const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
  const typing = /** @type {HTMLElement} */ (target).closest("input, select, textarea, [contenteditable]");
  const asked = (key === "k" && (ctrlKey || metaKey)) || (key === "/" && !typing && !ctrlKey && !metaKey);
  if (!asked || altKey || shiftKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  openSearch();
});
