// Dark, light, or what the system says: remembered by the browser.

import { Cell } from "./cell.ts";

export type Theme = "system" | "light" | "dark";
export const themes: Theme[] = ["system", "light", "dark"];

const key = "evershard_theme";
const remembered = (): Theme => {
  try {
    const value = localStorage.getItem(key) as Theme;
    return themes.includes(value) ? value : "system";
  } catch {
    return "system"; // storage is switched off
  }
};

const system = matchMedia("(prefers-color-scheme: dark)");
export const theme = new Cell<Theme>(remembered());
/// What is shown: charts are drawn anew when it changes.
export const shown = new Cell<"light" | "dark">("light");

function apply(): void {
  const dark = theme.value === "dark" || (theme.value === "system" && system.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  shown.set(dark ? "dark" : "light");
}

export function choose(value: Theme): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // it holds until the page is left
  }
  theme.set(value);
  apply();
}

system.addEventListener("change", apply);
apply();
