// Where the guide's pages begin, and what the theme's scripts remember under it between visits.
var __md_scope = new URL("../..", document.currentScript.src);

var __md_get = (key, storage = localStorage, scope = __md_scope) =>
  JSON.parse(storage.getItem(`${scope.pathname}.${key}`));

var __md_set = (key, value, storage = localStorage, scope = __md_scope) => {
  try {
    storage.setItem(`${scope.pathname}.${key}`, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing forgets the colours; the pages are the same.
  }
};
