/**
 * Where the line of pages is longer than the window, it begins at the page that is open.
 * @module
 */
const current = document.querySelector('nav[aria-label="Main"] [aria-current]');

current?.scrollIntoView({ block: "nearest", inline: "center" });
