// Shows one client's block at a time, and copies. Without scripts all blocks are shown, to be copied by hand.
"use strict";

const select = document.getElementById("client");

function showOne() {
  for (const block of document.querySelectorAll(".block")) block.hidden = block.id !== select.value;
}

async function copy(source) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    return true;
  } catch {
    // Browsers give no clipboard to pages on plain http, save those of this machine.
    getSelection().selectAllChildren(source);
    return document.execCommand("copy");
  }
}

async function answer(button) {
  const done = await copy(document.getElementById(button.dataset.copies));
  button.parentElement.querySelector("[role=status]").textContent = done
    ? "Copied."
    : "It is selected: press Ctrl+C or Cmd+C.";
}

for (const button of document.querySelectorAll("[data-copies]")) {
  button.hidden = false;
  button.addEventListener("click", () => answer(button));
}
select.parentElement.hidden = false;
select.addEventListener("change", showOne);
showOne();
