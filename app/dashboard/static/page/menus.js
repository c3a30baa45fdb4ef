/**
 * Menus of the header's sections, which open under the pointer and by the arrow keys. Closed menus are not in the tab
 * order. @module
 */
import { find, findAll, setAttribute } from "./dom.js";

/** Bind the menus of the sections that have more than one page. */
export function bindMenus() {
  for (const section of findAll(document, ".section:has(.menu-items)", HTMLElement)) bindMenu(section);
}

/** @param {HTMLElement} section */
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
