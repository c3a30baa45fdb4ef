/**
 * The header: the line of pages, the search and the theme.
 * @module
 */
import { offerCarriedUndo } from "../lifecycle/undo.js";
import { elementById, find, setAttribute, setText } from "./dom.js";
import { openSearch } from "./search.js";

const THEMES = ["system", "light", "dark"];
const KEY = "rankery-theme";

const current = document.querySelector('nav[aria-label="Main"] [aria-current]');
// Where the line is longer than the window, it begins at the page that is open.
current?.scrollIntoView({ block: "nearest", inline: "center" });

/** The chosen theme, "system" while none is. */
export function chosenTheme() {
  return document.documentElement.dataset.theme ?? "system";
}

/** Shows the page in a theme and keeps the choice. @param {string} theme one of `THEMES` */
export function chooseTheme(theme) {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset.theme;
  else dataset.theme = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Without storage it holds for this page.
  }
  showTheme();
  document.dispatchEvent(new Event("themechange"));
}

const themeButton = elementById("theme");

function showTheme() {
  const words = `Theme: ${chosenTheme()}`;
  setAttribute(themeButton, "title", words);
  setText(find(themeButton, ".visually-hidden"), words);
}

themeButton.addEventListener("click", () => {
  chooseTheme(THEMES[(THEMES.indexOf(chosenTheme()) + 1) % THEMES.length]);
});
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
