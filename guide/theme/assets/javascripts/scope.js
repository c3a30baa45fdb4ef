// Base address of the guide, and functions that store the values of the theme's scripts between visits.
var __md_scope = new URL("../..", document.currentScript.src);

var __md_get = (key, storage = localStorage, scope = __md_scope) =>
  JSON.parse(storage.getItem(`${scope.pathname}.${key}`));

var __md_set = (key, value, storage = localStorage, scope = __md_scope) => {
  try {
    storage.setItem(`${scope.pathname}.${key}`, JSON.stringify(value));
  } catch {
    // Without storage, the chosen colours are lost; nothing else changes.
  }
};
