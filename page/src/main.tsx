// The page begins: the theme before anything is drawn, the rest when there is a body.

import "./theme.ts";
import "./page.css";
import "uplot/dist/uPlot.min.css";
import { render } from "preact";
import { App } from "./app.tsx";
import { ask } from "./session.ts";

document.addEventListener("DOMContentLoaded", () => {
  void ask();
  render(<App />, document.getElementById("page")!);
});
