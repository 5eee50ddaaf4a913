/**
 * Lint, and the house plan: which folder may import which (docs/architecture.md).
 * A folder is entered through its index.ts; only base/ and protocols/canonical/ have no door.
 * sandbox/ stands beside src/: it imports base/ alone, and is imported by cli/ alone.
 */
import { defineConfig } from "oxlint";

export const layers: Record<string, string[]> = {
  base: [],
  protocols: ["base"],
  catalog: ["base"],
  media: ["base", "catalog"],
  embedded: ["base"],
  storage: ["base", "embedded"],
  files: ["base", "storage"],
  ledger: ["base", "storage"],
  verification: ["base", "storage"],
  backup: ["base", "storage", "files", "verification"],
  tenancy: ["base", "storage"],
  "request-log": ["base", "storage", "tenancy"],
  tracing: ["base"],
  usage: ["base", "storage", "tenancy"],
  retention: ["base", "storage", "usage"],
  rates: ["base", "storage", "tenancy"],
  admin: ["base", "storage", "request-log", "ledger", "tenancy", "catalog", "media"],
  exports: ["base", "storage", "files", "admin"],
  routing: ["base", "catalog"],
  upstream: ["base", "protocols", "catalog", "media"],
  attempts: ["base", "catalog", "media", "routing", "upstream"],
  hooks: ["base", "catalog", "tenancy", "upstream"],
  tasks: [
    "base",
    "catalog",
    "media",
    "storage",
    "files",
    "request-log",
    "ledger",
    "tenancy",
    "routing",
    "upstream",
    "attempts",
  ],
  calls: [
    "base",
    "protocols",
    "catalog",
    "media",
    "storage",
    "files",
    "request-log",
    "ledger",
    "tenancy",
    "routing",
    "upstream",
    "attempts",
    "tasks",
    "rates",
    "hooks",
  ],
  http: [
    "base",
    "protocols",
    "catalog",
    "media",
    "storage",
    "files",
    "request-log",
    "ledger",
    "verification",
    "tenancy",
    "routing",
    "tasks",
    "calls",
    "admin",
    "usage",
    "retention",
    "rates",
  ],
};
/** The rooms of src/http: which other rooms each may import (docs/architecture.md). Its files outside of rooms are for all. */
export const rooms: Record<string, string[]> = {
  shapes: [],
  bodies: [],
  callers: [],
  errors: ["bodies"],
  front: ["bodies", "errors"],
  forms: ["bodies"],
  text: ["bodies", "callers", "errors"],
  media: ["bodies", "callers", "errors", "forms", "text"],
  operation: ["errors"],
  console: [],
  admin: ["shapes", "bodies"],
  openapi: ["shapes", "errors", "admin"],
};
/** The rooms of console/src, which imports nothing of src/: pages stand on the rest, and never on another page. */
const consoleRooms: Record<string, string[]> = {
  base: [],
  theme: [],
  api: ["base"],
  ui: ["api", "base", "theme"],
  pages: ["api", "base", "ui"],
};
const codecs = ["chat", "responses", "messages", "generate-content", "converse"];

/** What counts as an assertion in a test: helpers that call expect or throw. */
const asserting = [
  "expect",
  "expect*",
  "showCase",
  "leavesInMidStream",
  "failsAs",
  "paysOnce",
  "waitsOutRateLimit",
  "stopsAtSequence",
  "endsAtStop",
  "run",
  "scenario.run",
  "refusedEverywhere",
  "refused",
  "attack",
  "answered",
  "until",
  "eventually",
  "*.answered",
  "*.said",
  "*.expectClean",
  "*.unharmed",
  "runTable",
  "created",
  "checkLedger",
  "invalid",
];

const without = (all: string[], keep: string[]) => all.filter((name) => !keep.includes(name));
const ban = (names: string[], message: string) =>
  names.length > 0 ? [{ group: names.map((name) => `**/${name}/**`), message }] : [];
const doors = (names: string[]) =>
  names.length > 0
    ? [
        {
          group: names.flatMap((name) => [`**/${name}/**`, `!**/${name}/index.ts`]),
          message: "enter a folder through its index.ts",
        },
      ]
    : [];

function layer(name: string) {
  const may = layers[name] ?? [];
  const others = without([...Object.keys(layers), "cli", "sandbox"], [name, ...may]);
  return [
    ...ban(others, `src/${name} may import only: ${may.join(", ") || "nothing of ours"}`),
    ...doors(without(may, ["base"])),
  ];
}

/** The rule of one room, for its own files and those of its folders. */
const room = (name: string) =>
  ["../", "../../"].map((up, depth) => {
    const may = rooms[name]!;
    const others = without([...Object.keys(rooms), "app.ts"], [name, ...may]).join("|");
    const regex = `^${up.replaceAll(".", String.raw`\.`)}(?:${others})(?:/|$)`;
    const message = `src/http/${name} may import of the other rooms only: ${may.join(", ") || "none"}`;
    const folder = `src/http/${name}/${"*/".repeat(depth)}`;
    return {
      files: [`${folder}*.ts`],
      rules: restrict([...layer("http"), { regex, message }]),
    };
  });

/** `../name/` leads to a room, or, from within `pages`, to another page; `../root.ts` is every page's parent. */
function consoleRoom(name: string) {
  const may = consoleRooms[name]!;
  const others = without(Object.keys(consoleRooms), [name, ...may]);
  const rooms = others.map((other) => ({
    regex: `^(?:\\.\\./)+${other}/`,
    message: `console/src/${name} may import only: ${may.join(", ") || "nothing of ours"}`,
  }));
  const pages = { regex: String.raw`^\.\./[\w-]+/`, message: "a page imports no other page" };
  const gateway = { group: ["**/../src/**"], message: "the console knows the API alone" };
  return [...rooms, gateway, ...(name === "pages" ? [pages] : [])];
}

/** Charts are larger than all the rest: only what is loaded after the numbers may have them. */
const charts = [
  {
    group: ["@mantine/charts", "@mantine/charts/**", "recharts", "recharts/**"],
    message: "charts belong into console/src/pages/*/chart-*.tsx, which their pages load lazily",
  },
];

const restrict = (patterns: object[]) => ({
  "no-restricted-imports": ["error" as const, { patterns }] as ["error", object],
});

export default defineConfig({
  plugins: ["typescript", "unicorn", "oxc", "import", "promise", "node", "vitest"],
  categories: { correctness: "error", suspicious: "error" },
  options: { typeAware: true },
  ignorePatterns: [
    "node_modules",
    "docs/openapi.json",
    "console/dist*",
    "console/src/api/schema.d.ts",
  ],
  rules: {
    // Types too: who reads one file of a circle has to read them all.
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "import/no-default-export": "error",
    "max-lines": ["error", { max: 300, skipBlankLines: false, skipComments: false }],
    "max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true }],
    "max-params": ["error", { max: 4 }],
    "max-depth": ["error", { max: 4 }],
    complexity: ["error", { max: 15 }],
    "typescript/no-explicit-any": "error",
    "typescript/consistent-type-imports": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/switch-exhaustiveness-check": [
      "error",
      { considerDefaultExhaustiveForUnions: true },
    ],
    "unicorn/filename-case": ["error", { case: "kebabCase" }],
    "no-shadow": "off",
    "no-await-in-loop": "off",
    // Written for Express; Fastify awaits its handlers.
    "oxc/no-async-endpoint-handlers": "off",
    "no-console": "error",
    "unicorn/no-array-sort": "off",
    "unicorn/no-array-reverse": "off",
    "unicorn/consistent-function-scoping": "off",
    "promise/always-return": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "typescript/consistent-return": "off",
    "typescript/no-unnecessary-type-parameters": "off",
    "vitest/require-mock-type-parameters": "off",
    "vitest/expect-expect": ["error", { assertFunctionNames: asserting }],
  },
  overrides: [
    ...Object.keys(layers).map((name) => ({
      files: [`src/${name}/**/*.ts`],
      rules: restrict(layer(name)),
    })),
    ...Object.keys(rooms).flatMap(room),
    { files: ["src/cli/**/*.ts"], rules: restrict(doors(["sandbox"])) },
    {
      files: ["sandbox/**/*.ts"],
      rules: restrict(
        ban(
          [...without(Object.keys(layers), ["base"]), "cli"].map((name) => `src/${name}`),
          "the simulated vendors may import of src only: base",
        ),
      ),
    },
    ...codecs.map((name) => ({
      files: [`src/protocols/${name}/**/*.ts`],
      rules: restrict([
        ...layer("protocols"),
        ...ban(without(codecs, [name]), "a codec knows only the canonical form"),
      ]),
    })),
    {
      files: ["test/**/*.ts", "bench/**/*.ts", "scripts/**", "bin/**"],
      rules: {
        "no-console": "off",
        "max-lines": ["error", { max: 400 }],
        "max-lines-per-function": "off",
      },
    },
    { files: ["src/cli/**/*.ts"], rules: { "no-console": "off" } },
    {
      files: ["console/src/**/*.{ts,tsx}"],
      plugins: ["react", "jsx-a11y"],
      rules: {
        "max-lines": ["error", { max: 200, skipBlankLines: false, skipComments: false }],
        // React needs none in its files since it has a transform of its own.
        "react/react-in-jsx-scope": "off",
        // To the sign-in form, which is what that page is for.
        "jsx-a11y/no-autofocus": "off",
      },
    },
    // Styles are imported for what they do.
    { files: ["console/src/main.tsx"], rules: { "import/no-unassigned-import": "off" } },
    ...Object.keys(consoleRooms).map((name) => ({
      files: [`console/src/${name}/**/*.{ts,tsx}`],
      rules: restrict([...consoleRoom(name), ...charts]),
    })),
    {
      files: ["console/src/pages/*/chart-*.tsx"],
      // Their style sheet is loaded with them.
      rules: { ...restrict(consoleRoom("pages")), "import/no-unassigned-import": "off" },
    },
    // The one place where a page's frame is put around it.
    { files: ["console/src/pages/root.ts"], rules: { "no-restricted-imports": "off" } },
    { files: ["*.config.ts"], rules: { "import/no-default-export": "off" } },
  ],
});
