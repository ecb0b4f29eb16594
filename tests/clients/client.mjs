// Take MCP's own TypeScript client through all that it can ask of the server in app.py, and print what it was told.
//   node client.mjs WHAT   (with the packages installed where NODE_MODULES points)
// WHAT is JSON: {"sdk": "client" or "sdk", "revision": …, "url": … or "command": […], "token": …, "key": …}.
import { createRequire } from "node:module";
import { join } from "node:path";

const what = JSON.parse(process.argv[2]);
const load = createRequire(join(process.env.NODE_MODULES, "x.js"));

// -------------------------------------------------------------------------------- what differs between the two SDKs

const STATELESS = "2026-07-28";
const { Client, StreamableHTTPClientTransport, StdioClientTransport, options, asked } = {
  // The SDK of all revisions: its newest package.
  client() {
    const handshake = { versionNegotiation: { mode: "legacy" }, supportedProtocolVersions: [what.revision] };
    const modes = { auto: { mode: "auto" }, [STATELESS]: { mode: { pin: STATELESS } } };
    const mode = modes[what.revision];
    return {
      ...load("@modelcontextprotocol/client"),
      ...load("@modelcontextprotocol/client/stdio"),
      options: mode ? { versionNegotiation: mode } : handshake,
      asked: "elicitation/create",
    };
  },
  // The SDK of the handshake era, which most clients are still built upon. It proposes 2025-11-25.
  sdk() {
    return {
      ...load("@modelcontextprotocol/sdk/client/index.js"),
      ...load("@modelcontextprotocol/sdk/client/streamableHttp.js"),
      ...load("@modelcontextprotocol/sdk/client/stdio.js"),
      options: {},
      asked: load("@modelcontextprotocol/sdk/types.js").ElicitRequestSchema,
    };
  },
}[what.sdk]();

// ------------------------------------------------------------------------------------------------------ the client

const faults = [];
const questions = [];
let answers = [];

function transport(token = what.token) {
  if (what.command) {
    const [command, ...args] = what.command;
    return new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" });
  }
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  return new StreamableHTTPClientTransport(new URL(what.url), { requestInit: { headers } });
}

function made() {
  const capabilities = { elicitation: { form: {}, url: {} } };
  const client = new Client({ name: "typescript", version: "1" }, { capabilities, ...options });
  client.onerror = (error) => faults.push(String(error));
  client.setRequestHandler(asked, (request) => {
    questions.push(request.params);
    return answers.shift();
  });
  return client;
}

// All pages of a list; the older SDK leaves the cursor to its caller.
async function all(list, member) {
  const found = [];
  let cursor;
  do {
    const page = await list(cursor ? { cursor } : undefined);
    found.push(...page[member]);
    cursor = page.nextCursor;
  } while (cursor);
  return found;
}

// How a request fails; one that does not is a fault of its own.
const refused = (promise) =>
  promise.then(
    (answer) => ({ answer }),
    ({ code, status, message }) => ({ code, status, message }),
  );

// ------------------------------------------------------------------------------------------------ the conversation

const client = made();
const way = transport();
await client.connect(way);
const call = (name, args = {}, more) =>
  what.sdk === "sdk"
    ? client.callTool({ name, arguments: args }, undefined, more)
    : client.callTool({ name, arguments: args }, more);

// A call that says how far it is, and does not answer before the client has heard all of it.
async function counted(key) {
  const progress = [];
  const onprogress = (told) => {
    progress.push(told);
    if (told.progress === told.total) call("heard", { key });
  };
  return { result: await call("count", { key }, { onprogress }), progress };
}

// A call that asks, and the questions, which are answered one after the other.
async function answered(name, ...given) {
  answers = given;
  questions.length = 0;
  return { result: await call(name), questions: [...questions] };
}

// A call that is given up once it is under way, and what became of it.
async function cancelled(key) {
  const abort = new AbortController();
  const onprogress = ({ progress }) => progress === 3 && abort.abort("enough");
  const seen = await refused(call("dig", { key }, { signal: abort.signal, onprogress }));
  const then = await call("dug", { key });
  // What was on its way when the call was given up is for nobody.
  const faulty = faults.filter((fault) => !fault.includes("progress notification for an unknown token"));
  return { seen, then, faults: faulty };
}

const accept = (content) => ({ action: "accept", content });
const said = {
  era: client.getProtocolEra?.() ?? "legacy",
  server: client.getServerVersion(),
  offers: client.getServerCapabilities(),
  instructions: client.getInstructions(),
  tools: await all((page) => client.listTools(page), "tools"),
  resources: await all((page) => client.listResources(page), "resources"),
  templates: await all((page) => client.listResourceTemplates(page), "resourceTemplates"),
  prompts: await all((page) => client.listPrompts(page), "prompts"),
  whoami: await call("whoami"),
  add: await call("add", { a: 2, b: 3 }),
  items: await call("items"),
  locate: await call("locate", { region: "süd 7" }),
  read: await client.readResource({ uri: "shed://tools/hoe" }),
  picture: await client.readResource({ uri: "shed://logo" }),
  got: await client.getPrompt({ name: "advise", arguments: { name: "hoe" } }),
  completed: await client.complete({
    ref: { type: "ref/prompt", name: "advise" },
    argument: { name: "name", value: "s" },
  }),
  completedUri: await client.complete({
    ref: { type: "ref/resource", uri: "shed://tools/{name}" },
    argument: { name: "name", value: "" },
  }),
  failed: await call("fail"),
  wiped: await call("wipe"),
  unfit: await call("add", { a: 2 }),
  unknown: await refused(call("nothing")),
  missing: await refused(client.readResource({ uri: "shed://nothing" })),
  counted: await counted(what.key),
  lent: await answered("lend", accept({ name: "hoe" }), accept({ days: 3 })),
  declined: await answered("lend", { action: "decline" }),
  dismissed: await answered("lend", accept({ name: "hoe" }), { action: "cancel" }),
  paid: await answered("pay", { action: "accept" }),
  faults: [...faults],
  cancelled: await cancelled(what.key),
};
if (what.url) {
  said.stranger = await refused(made().connect(transport("nobody's")));
  if (way.sessionId) said.ended = (await way.terminateSession()) ?? "ended";
}
await client.close();
console.log(JSON.stringify(said));
