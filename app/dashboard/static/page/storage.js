/** Texts that the browser keeps. Users can forbid storage: nothing is kept then. @module */

/** @typedef {"localStorage" | "sessionStorage"} Kind */

/** Return a stored text, null if there is none. @param {string} key @param {Kind} [kind] */
export function stored(key, kind = "localStorage") {
  try {
    return globalThis[kind].getItem(key);
  } catch {
    return null;
  }
}

/** Store a text, and return whether the browser allows it; null removes it. @param {string} key @param {string | null} text @param {Kind} [kind] */
export function store(key, text, kind = "localStorage") {
  try {
    if (text === null) globalThis[kind].removeItem(key);
    else globalThis[kind].setItem(key, text);
    return true;
  } catch {
    return false;
  }
}
