/**
 * Renders the Helm chart where Helm is not installed. It knows only the few functions of Go templates, Sprig and Helm that our
 * templates use. Any other function is an error, so that nothing is rendered by guess.
 */
import { createHash } from "node:crypto";
import { stringify } from "yaml";

type Values = Readonly<Record<string, unknown>>;
type Value = (data: unknown) => unknown;
type Part = (data: unknown) => string;

const isTrue = (value: unknown): boolean =>
  typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value);
type Scalar = string | number | boolean;
const textOf = (value: unknown): string => String((value as Scalar | null | undefined) ?? "");
const memberOf = (value: unknown, name: string): unknown => (value as Values | undefined)?.[name];

const functions: Readonly<Record<string, (...given: never[]) => unknown>> = {
  quote: (value: unknown) => JSON.stringify(textOf(value)),
  nindent: (count: number, text: string) => `\n${text.replaceAll(/^(?=.)/gm, " ".repeat(count))}`,
  toYaml: (value: unknown) => stringify(value).trimEnd(),
  sha256sum: (text: string) => createHash("sha256").update(text).digest("hex"),
  default: (other: unknown, value: unknown) => (isTrue(value) ? value : other),
  add: (left: number, right: number) => left + right,
  not: (value: unknown) => !isTrue(value),
  and: (left: unknown, right: unknown) => (isTrue(left) ? right : left),
  printf: (form: string, ...given: unknown[]) => form.replaceAll("%s", () => textOf(given.shift())),
  trunc: (length: number, text: string) => text.slice(0, length),
  trimSuffix: (end: string, text: string) => text.replace(new RegExp(`${end}$`), ""),
  dict: (...given: string[]) =>
    Object.fromEntries(given.flatMap((name, at) => (at % 2 ? [] : [[name, given[at + 1]]]))),
  required(message: string, value: unknown) {
    if (!isTrue(value)) throw new Error(message);
    return value;
  },
};

/** Renders one file of a chart. `texts`: the templates by name; `about`: what Helm passes besides the values. */
export function openChart(texts: Readonly<Record<string, string>>, about: Values) {
  const chart = new Chart();
  const files = new Map(Object.entries(texts).map(([name, text]) => [name, chart.parse(text)]));
  return (name: string, values: Values): string => files.get(name)!({ ...about, Values: values });
}

const expressionToken = /"(?:[^"\\]|\\.)*"|\.?\w+(?:\.\w+)*|[.|()]/g;

class Chart {
  readonly #defined = new Map<string, Part>();

  parse(text: string): Part {
    const pieces = text.split(/(?:\s*\{\{-|\{\{)\s*(.*?)\s*(?:-\}\}\s*|\}\})/);
    const part = this.#block(pieces);
    if (pieces.length > 0) throw new Error(`a template goes on: ${pieces[0]}`);
    return part;
  }

  /** Parses up to the `end` or `else` of this block, which it leaves in `pieces`. Texts and actions alternate in `pieces`. */
  #block(pieces: string[]): Part {
    const parts: Part[] = [];
    for (;;) {
      const text = pieces.shift()!;
      parts.push(() => text);
      const [action] = pieces;
      if (action === undefined || action === "end" || action === "else")
        return (data) => parts.map((part) => part(data)).join("");
      pieces.shift();
      parts.push(this.#action(action, pieces));
    }
  }

  #action(action: string, pieces: string[]): Part {
    if (action.startsWith("/*")) return () => "";
    const [, word, rest] = /^(if|with|define) (.*)$/.exec(action) ?? [];
    if (word === undefined) {
      const value = this.#value(action);
      return (data) => textOf(value(data));
    }
    const body = this.#block(pieces);
    const otherwise = pieces.shift() === "else" ? this.#block(pieces) : () => "";
    if (pieces[0] === "end") pieces.shift();
    const value = this.#value(rest!);
    if (word === "define") {
      this.#defined.set(String(value(undefined)), body);
      return () => "";
    }
    return (data) => {
      const found = value(data);
      if (!isTrue(found)) return otherwise(data);
      return body(word === "with" ? found : data);
    };
  }

  #value(text: string): Value {
    const tokens = text.match(expressionToken) ?? [];
    const value = this.#pipeline(tokens);
    if (tokens.length > 0) throw new Error(`not understood: ${text}`);
    return value;
  }

  #pipeline(tokens: string[]): Value {
    let value: Value | undefined;
    do {
      const words = value === undefined ? [] : [value];
      value = this.#command(tokens, words);
    } while (tokens[0] === "|" && tokens.shift());
    return value;
  }

  /** Parses a function with its arguments, or one value. The result of the pipeline so far is the last argument. */
  #command(tokens: string[], last: readonly Value[]): Value {
    const [name = ""] = tokens;
    if (!/^[a-z]/.test(name)) return this.#operand(tokens);
    tokens.shift();
    const given: Value[] = [];
    while (tokens.length > 0 && !/^[|)]$/.test(tokens[0]!)) given.push(this.#operand(tokens));
    const all = [...given, ...last];
    if (name === "include")
      return (data) => {
        const [template, inner] = all.map((value) => value(data));
        return this.#defined.get(String(template))!(inner);
      };
    const work = functions[name];
    if (work === undefined) throw new Error(`the chart's tests do not know ${name}`);
    return (data) => work(...(all.map((value) => value(data)) as never[]));
  }

  #operand(tokens: string[]): Value {
    const token = tokens.shift()!;
    if (token === "(") {
      const inner = this.#pipeline(tokens);
      tokens.shift();
      if (!/^\.\w/.test(tokens[0] ?? "")) return inner;
      const path = this.#operand(tokens);
      return (data) => path(inner(data));
    }
    if (token.startsWith(".")) {
      const names = token.split(".").filter((name) => name !== "");
      return (data) => names.reduce(memberOf, data);
    }
    const literal: unknown = JSON.parse(token);
    return () => literal;
  }
}
