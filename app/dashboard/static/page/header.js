/** The header: navigation with its menus, search, theme and toolbar. @module */
import { offerPendingUndo } from "../lifecycle/undo.js";
import { chooseTheme, chosenTheme, THEMES } from "./chosen_theme.js";
import { elementById, find, findAll, requireScope, setAttribute, setText } from "./dom.js";
import { openSearch } from "./search.js";
import { goByKey, openShortcuts } from "./shortcuts.js";

/**
 * Bind the menu of a section, which opens under the pointer and by the arrow keys. A closed menu is not in the tab order.
 * @param {HTMLElement} section
 */
function bindMenu(section) {
  const entry = find(section, "a", HTMLAnchorElement);
  const menu = find(section, ".menu-items");
  const links = findAll(menu, "a", HTMLAnchorElement);

  /** @param {boolean} open */
  function show(open) {
    menu.hidden = !open;
    setAttribute(entry, "aria-expanded", String(open));
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const index = links.findIndex((link) => link === document.activeElement);
    if (event.key === "Escape" && !menu.hidden) {
      entry.focus();
      show(false);
    } else if (event.key === "ArrowDown" || (event.key === "ArrowUp" && !menu.hidden)) {
      show(true);
      const next = index + (event.key === "ArrowDown" ? 1 : -1);
      links[(next + links.length) % links.length].focus();
    } else return;
    event.preventDefault();
  }

  section.addEventListener("pointerenter", ({ pointerType }) => pointerType === "mouse" && show(true));
  section.addEventListener("pointerleave", () => !menu.contains(document.activeElement) && show(false));
  section.addEventListener("focusout", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && section.contains(relatedTarget))) show(false);
  });
  section.addEventListener("keydown", onKey);
  show(false);
}

/** @type {Record<string, (index: number, last: number) => number>} */
const MOVES = {
  ArrowRight: (index, last) => (index === last ? 0 : index + 1),
  ArrowLeft: (index, last) => (index === 0 ? last : index - 1),
  Home: () => 0,
  End: (_index, last) => last,
};

/** Bind the keys of a toolbar; its tab stop is the control that had the focus last. @param {HTMLElement} toolbar */
function bindToolbar(toolbar) {
  const controls = findAll(toolbar, "a, button", HTMLElement);
  const setTabStop = (/** @type {HTMLElement} */ stop) => {
    for (const control of controls) control.tabIndex = control === stop ? 0 : -1;
  };
  toolbar.addEventListener("focusin", ({ target }) => setTabStop(/** @type {HTMLElement} */ (target)));
  toolbar.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    const index = controls.findIndex((control) => control === document.activeElement);
    if (!move || index < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    controls[move(index, controls.length - 1)].focus();
  });
  setTabStop(controls[0]);
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
document.addEventListener("themechange", showTheme);
showTheme();

for (const control of findAll(document, "[data-needs]", HTMLElement))
  requireScope(control, control.dataset.needs ?? "");
offerPendingUndo();
for (const section of findAll(document, ".section:has(.menu-items)", HTMLElement)) bindMenu(section);
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
