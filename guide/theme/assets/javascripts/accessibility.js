// What scrolls sideways is reached by keyboard: tables, formulas and rows of tabs that are wider than the page.
(() => {
  const reach = () => {
    for (const region of document.querySelectorAll(".md-typeset__scrollwrap, .tabbed-labels, .formula")) {
      if (region.scrollWidth > region.clientWidth) region.tabIndex = 0;
      else region.removeAttribute("tabindex");
    }
  };
  reach();
  addEventListener("load", reach);
  addEventListener("resize", reach);

  // The theme gives the search no name for those who hear it.
  document.querySelector("[data-md-component=search]")?.setAttribute("aria-label", "Search");
})();
