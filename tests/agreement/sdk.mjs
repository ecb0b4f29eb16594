// Hand every dump of the catalogue to the validator of MCP's TypeScript SDK, as a client would.
//   node tests/agreement/sdk.mjs DUMPS   (with @modelcontextprotocol/sdk installed where NODE_MODULES points)
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const home = process.env.NODE_MODULES ?? join(process.cwd(), "node_modules");
const resolve = createRequire(join(home, "x.js")).resolve;
const { AjvJsonSchemaValidator } = await import(
  pathToFileURL(resolve("@modelcontextprotocol/sdk/validation/ajv")).href
);

const provider = new AjvJsonSchemaValidator();
const validators = new Map();
let count = 0;
let refused = 0;
for (const line of readFileSync(process.argv[2], "utf8").split("\n").filter(Boolean)) {
  const [name, schema, value] = JSON.parse(line);
  const key = JSON.stringify(schema);
  if (!validators.has(key)) validators.set(key, provider.getValidator(schema));
  const answer = validators.get(key)(value);
  count += 1;
  if (!answer.valid && ++refused <= 20) console.error(name, JSON.stringify(value), answer.errorMessage);
}
console.log(`${validators.size} schemas, ${count} values, ${refused} refused`);
process.exit(refused || !count ? 1 : 0);
