// The secret part: once it is on its way, the confirmation is taken back.

import { announce } from "./base.js";

const form = document.getElementById("secret-form");

form?.addEventListener("submit", () => {
  setTimeout(() => form.reset());
  const said = form.dataset.said;
  if (said) announce(said);
});
