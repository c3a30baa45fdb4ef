// Make tables, formulas and rows of tabs focusable if they are wider than the page, to scroll them by keyboard.
(() => {
  const makeFocusable = () => {
    for (const region of document.querySelectorAll(".md-typeset__scrollwrap, .tabbed-labels, .formula")) {
      if (region.scrollWidth > region.clientWidth) region.tabIndex = 0;
      else region.removeAttribute("tabindex");
    }
  };
  makeFocusable();
  addEventListener("load", makeFocusable);
  addEventListener("resize", makeFocusable);

  // The theme gives the search no accessible name.
  document.querySelector("[data-md-component=search]")?.setAttribute("aria-label", "Search");
})();
