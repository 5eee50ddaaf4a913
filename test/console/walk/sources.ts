/**
 * The writing API calls of the console, from its own sources. The table of actions is compared with them, so that a new call
 * cannot be left out.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "vitest/node";

const folder = join(import.meta.dirname, "../../../console/src");

interface Node {
  readonly type: string;
  readonly [name: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

function* nodesIn(node: Node): Generator<Node> {
  yield node;
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value])
      if (isNode(child)) yield* nodesIn(child);
}

const unwrapped = (node: Node): Node =>
  /^TS(?:As|Satisfies|NonNull)Expression$/.test(node.type)
    ? unwrapped(node["expression"] as Node)
    : node;

/** The possible texts of an expression: a literal, or those of a constant of the same file. */
function textsOf(expression: Node, file: readonly Node[], place: string): string[] {
  const node = unwrapped(expression);
  if (node.type === "Literal") return [node["value"] as string];
  const owner = node.type === "MemberExpression" ? (node["object"] as Node) : node;
  const constant = file.find(
    (one) => one.type === "VariableDeclarator" && (one["id"] as Node)["name"] === owner["name"],
  );
  const value = constant && unwrapped(constant["init"] as Node);
  if (value?.type === "Literal") return [value["value"] as string];
  if (value?.type === "ObjectExpression")
    return (value["properties"] as Node[]).flatMap((one) =>
      textsOf(one["value"] as Node, file, place),
    );
  throw new Error(`${place}: write the path of this call as a literal, so that it can be read.`);
}

const writing = /^(?:POST|PATCH|PUT|DELETE)$/;

/** The calls of one expression as "METHOD path"; empty if it is not a writing call of the API. */
function callsAt(node: Node, file: readonly Node[], place: string): string[] {
  const callee = node.type === "CallExpression" ? unwrapped(node["callee"] as Node) : undefined;
  if (callee?.type !== "MemberExpression") return [];
  const [first, second] = node["arguments"] as Node[];
  const name = (callee["property"] as Node)["name"] as string;
  if (writing.test(name)) return textsOf(first!, file, place).map((path) => `${name} ${path}`);
  const isApi = (unwrapped(callee["object"] as Node)["name"] as string) === "api";
  if (!isApi) return [];
  const [method] = textsOf(first!, file, place);
  if (method === "get") return [];
  return textsOf(second!, file, place).map((path) => `${method!.toUpperCase()} ${path}`);
}

export interface Sources {
  /** "POST /admin/v1/keys", sorted, each once. */
  readonly calls: readonly string[];
  /** Files with their own network access, such as `fetch`. */
  readonly ways: readonly string[];
}

/** Reads the sources of the console. @throws Error if a path cannot be read from them */
export function readSources(): Sources {
  const calls = new Set<string>();
  const ways = new Set<string>();
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!/\.tsx?$/.test(name) || name.endsWith(".d.ts")) continue;
    const text = readFileSync(join(folder, name), "utf8");
    const program = parseAst(text, { lang: "tsx", sourceType: "module" }) as unknown as Node;
    const nodes = [...nodesIn(program)];
    for (const node of nodes) for (const call of callsAt(node, nodes, name)) calls.add(call);
    const isWay = nodes.some(
      (node) =>
        node.type === "Identifier" &&
        /^(?:fetch|fetchWithReauth|XMLHttpRequest|EventSource|WebSocket|sendBeacon|createFetchClient)$/.test(
          node["name"] as string,
        ),
    );
    if (isWay) ways.add(name);
  }
  return { calls: [...calls].sort(), ways: [...ways].sort() };
}
