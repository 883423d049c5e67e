// Sets theme, density and shortcuts before the first paint, so that a dark page never flashes white.
(() => {
  const read = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  };
  const theme = read("det.theme");
  const density = read("det.density");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  if (density === "compact" || density === "comfortable") document.documentElement.dataset.density = density;
  if (read("det.keys") === "off") document.documentElement.dataset.keys = "off";
})();
