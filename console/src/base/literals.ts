/** Renders values as literals for a shell, Python and JavaScript. */

/** Quotes text as one shell word. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const words: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };
const lineMax = 80;

/** Renders a value as Python or JavaScript, on one line if it fits. */
function literal(value: unknown, indent: string, python: boolean): string {
  if (typeof value !== "object" || value === null) {
    const text = JSON.stringify(value) ?? "null";
    return python ? (words[text] ?? text) : text;
  }
  const inner = `${indent}${python ? "    " : "  "}`;
  const isList = Array.isArray(value);
  const part = ([name, one]: [string, unknown], at: string) => {
    const text = literal(one, at, python);
    if (isList) return text;
    return `${!python && /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)}: ${text}`;
  };
  const parts = Object.entries(value);
  const [open, close] = isList ? "[]" : "{}";
  const short = parts.map((one) => part(one, indent)).join(", ");
  if (parts.length === 0) return `${open}${close}`;
  if (short.length < lineMax && !short.includes("\n"))
    return isList || python ? `${open}${short}${close}` : `${open} ${short} ${close}`;
  const long = parts.map((one) => `${inner}${part(one, inner)},`).join("\n");
  return `${open}\n${long}\n${indent}${close}`;
}

/** Renders the body as named arguments of a Python call. */
export const pythonArguments = (body: object): string =>
  Object.entries(body)
    .map(([name, value]) => `    ${name}=${literal(value, "    ", true)},\n`)
    .join("");

export const javascript = (body: object): string => literal(body, "", false);
