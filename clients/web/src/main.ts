import "./lib/older";
import { mount } from "svelte";
import "./app.css";
import App from "./App.svelte";
import { chosen } from "./lib/choices.svelte";
import { listenForFirstTap } from "./lib/senses";

const target = document.getElementById("app");
if (target) {
  void chosen.speak().then(() => {
    target.textContent = "";
    mount(App, { target });
  });
}

listenForFirstTap();
// Withheld over plain HTTP; the page then needs a network to open, and nothing else changes.
if (import.meta.env.PROD && "serviceWorker" in navigator) {
  addEventListener("load", () => void navigator.serviceWorker.register("/worker.js").catch(() => undefined));
}
