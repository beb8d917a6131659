// The entry of the console.

import { render } from "preact";
import { App } from "./app.tsx";
import { applyTheme } from "./theme.ts";
import "./style/main.css";

applyTheme();
const root = document.getElementById("app");
if (root !== null) render(<App />, root);
