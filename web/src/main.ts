// Where the page begins.
import { mount } from "svelte";
import App from "./App.svelte";
import "./style.css";
import { choice } from "./words/words.svelte";

await choice.begin();
const target = document.getElementById("app");
if (target) mount(App, { target });
