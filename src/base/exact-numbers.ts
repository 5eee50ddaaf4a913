/**
 * Numbers that a double does not hold, such as an id of nineteen digits: what a text with them was parsed to goes with a twin that
 * writes them as they were read. Only what goes on as JSON within another body asks for it: arguments, results, schemas.
 */

/**
 * A number that a double may not hold: whole, of 16 digits and more, a decimal of 18 and more, or one of a large exponent. Doubles
 * themselves are written with up to 17 digits, so decimals of 16 and 17 are taken for them.
 */
const longNumber = /[[:,]\s*-?(?:\d{16}|0\.0*[1-9]\d{17}|[1-9][\d.]{18}|\d[\d.]*[eE][+-]?\d{3})/;

/** Whether a JSON text may hold such a number; never false where one stands in an object or a list. */
export const mayHoldLongNumbers = (text: string): boolean => longNumber.test(text);

/** The least characters of such a number but for its exponent. */
export const longNumberMin = 16;

/** A number as it was read, in the form that JSON writes as it is; a value that only `JSON.stringify` may see. */
interface RawNumber {
  readonly rawJSON: string;
}

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

/** As the language has it; the types of the compiler do not know it yet. */
const json = JSON as unknown as {
  parse: (text: string, reviver: Reviver) => unknown;
  rawJSON: (text: string) => RawNumber;
  isRawJSON: (value: unknown) => value is RawNumber;
};

/** Whether a value is a number as it was read, and no object. */
export const isRawNumber = (value: unknown): boolean => json.isRawJSON(value);

/** Parses a text, its long numbers as they stand there. @throws SyntaxError as JSON.parse */
export const parseExactly = (text: string): unknown =>
  json.parse(text, (_name, value, { source }) =>
    typeof value === "number" && source !== undefined && decimal(source) !== decimal(String(value))
      ? json.rawJSON(source)
      : value,
  );

/** A number's digits and the power of ten they are counted in, however it is written. */
function decimal(text: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text);
  if (!match) return text;
  const [, sign, whole, fraction = "", exponent = "0"] = match as unknown as string[];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const plain = digits.replace(/0+$/, "");
  if (plain === "") return "0";
  return `${sign}${plain}e${Number(exponent) - fraction.length + digits.length - plain.length}`;
}

const twins = new WeakMap<object, unknown>();

/** Notes for each object and list of `value` which holds long numbers what it is exactly. True where there is one. */
export function noteExactly(value: unknown, exact: unknown): boolean {
  if (isRawNumber(exact)) return true;
  if (typeof value !== "object" || value === null) return false;
  const members = value as Readonly<Record<string, unknown>>;
  const twin = exact as Readonly<Record<string, unknown>>;
  let differs = false;
  for (const key of Object.keys(members)) {
    if (noteExactly(members[key], twin[key])) differs = true;
  }
  if (differs) twins.set(value, exact);
  return differs;
}

/** A parsed value with its numbers as they were read: to be written and not to be reckoned with. The same value where they are. */
export function exactly<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  return (twins.get(value) as Value | undefined) ?? value;
}

/** The JSON text of a parsed value, its numbers as they were read. */
export const exactText = (value: unknown): string => JSON.stringify(exactly(value));
