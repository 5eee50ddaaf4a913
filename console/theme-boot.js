// Sets the colour scheme before the first paint. A file of its own, because the policy allows no script in the page.
(() => {
  let kept = null;
  try {
    kept = localStorage.getItem("mantine-color-scheme-value");
  } catch {
    // Storage is switched off: the system's scheme it is.
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const scheme = kept === "light" || kept === "dark" ? kept : dark ? "dark" : "light";
  document.documentElement.dataset.mantineColorScheme = scheme;
})();
