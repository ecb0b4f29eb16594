// The suite imports `globSync` from `fs`, which Node has since 22, and needs it for none of what is run here. On an
// older Node this gives `fs` one that refuses to be called, to whoever imports it.
import * as fs from "node:fs";
import { register } from "node:module";

if (!("globSync" in fs)) {
  const shim = `
    export * from "node:fs";
    export { default } from "node:fs";
    export function globSync() { throw new Error("fs.globSync is not in this version of Node"); }
  `;
  const hook = `
    export async function resolve(specifier, context, next) {
      if (specifier === "fs" && context.parentURL?.includes("/@modelcontextprotocol/conformance/")) {
        return { url: ${JSON.stringify("data:text/javascript," + encodeURIComponent(shim))}, shortCircuit: true };
      }
      return next(specifier, context);
    }
  `;
  register("data:text/javascript," + encodeURIComponent(hook));
}
