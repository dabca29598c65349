// The secret part: once it is on its way, the confirmation is taken back.

import { announce } from "./base.js";

const form = document.getElementById("secret-form");

form?.addEventListener("submit", () => {
  setTimeout(() => form.reset());
  const text = form.dataset.announce;
  if (text) announce(text);
});
