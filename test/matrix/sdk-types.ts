/** Reads the types of the vendors' SDKs from their declaration files. */
import { readFileSync } from "node:fs";
import { parseSync } from "vite";

/** A type, as far as it is needed to make values. */
export type Type =
  | { readonly kind: "text" | "number" | "boolean" | "null" | "any" }
  | { readonly kind: "literal"; readonly value: unknown }
  | { readonly kind: "union"; readonly types: readonly Type[] }
  | { readonly kind: "list"; readonly item: Type }
  /** `scope`: the namespaces around the name, each followed by a dot. */
  | { readonly kind: "named"; readonly name: string; readonly scope: string }
  | { readonly kind: "object"; readonly members: ReadonlyMap<string, Member> };

export interface Member {
  readonly type: Type;
  readonly isOptional: boolean;
}

type Node = { readonly type: string } & Readonly<Record<string, unknown>>;

const nodes = (value: unknown): Node[] => (Array.isArray(value) ? (value as Node[]) : []);
const node = (value: unknown): Node => (value ?? { type: "none" }) as Node;
const any: Type = { kind: "any" };

const keywords: Readonly<Record<string, Type>> = {
  TSStringKeyword: { kind: "text" },
  TSNumberKeyword: { kind: "number" },
  TSBooleanKeyword: { kind: "boolean" },
  TSNullKeyword: { kind: "null" },
  TSUndefinedKeyword: { kind: "null" },
};

/** A name qualified with its namespaces. */
function nameOf(reference: Node): string {
  if (reference.type === "TSQualifiedName")
    return `${nameOf(node(reference["left"]))}.${nameOf(node(reference["right"]))}`;
  return String(reference["name"]);
}

function typeOf(wire: Node, scope: string): Type {
  switch (wire.type) {
    case "TSLiteralType":
      return { kind: "literal", value: node(wire["literal"])["value"] };
    case "TSUnionType":
      return { kind: "union", types: nodes(wire["types"]).map((one) => typeOf(one, scope)) };
    case "TSArrayType":
      return { kind: "list", item: typeOf(node(wire["elementType"]), scope) };
    case "TSTypeLiteral":
      return { kind: "object", members: membersOf(nodes(wire["members"]), scope) };
    case "TSParenthesizedType":
    case "TSTypeOperator":
      return typeOf(node(wire["typeAnnotation"]), scope);
    case "TSTypeReference":
      return referenceOf(nameOf(node(wire["typeName"])), wire, scope);
    default:
      return keywords[wire.type] ?? any;
  }
}

function referenceOf(name: string, wire: Node, scope: string): Type {
  const [first] = nodes(node(wire["typeArguments"])["params"]);
  if (name === "Array" && first) return { kind: "list", item: typeOf(first, scope) };
  return first ? any : { kind: "named", name, scope };
}

function membersOf(signatures: readonly Node[], scope: string): Map<string, Member> {
  const members = new Map<string, Member>();
  for (const signature of signatures) {
    if (!/^(?:TSPropertySignature|PropertyDefinition)$/.test(signature.type)) continue;
    const key = node(signature["key"]);
    members.set(String(key["name"] ?? key["value"]), {
      type: typeOf(node(node(signature["typeAnnotation"])["typeAnnotation"]), scope),
      isOptional: signature["optional"] === true,
    });
  }
  return members;
}

/** A declared type with its base types. */
interface Declared {
  readonly type: Type;
  readonly bases: readonly Type[];
}

function declaredIn(body: readonly Node[], prefix: string, into: Map<string, Declared>): void {
  for (const statement of body) {
    const declaration = node(statement["declaration"] ?? statement);
    const id = node(declaration["id"])["name"] as string | undefined;
    if (id === undefined) continue;
    const name = `${prefix}${id}`;
    const inner = node(declaration["body"]);
    if (declaration.type === "TSModuleDeclaration")
      declaredIn(nodes(inner["body"]), `${name}.`, into);
    else if (declaration.type === "TSInterfaceDeclaration")
      into.set(name, {
        type: { kind: "object", members: membersOf(nodes(inner["body"]), `${name}.`) },
        bases: nodes(declaration["extends"]).map((base) => ({
          kind: "named",
          name: baseOf(node(base["expression"])),
          scope: prefix,
        })),
      });
    else if (declaration.type === "ClassDeclaration")
      into.set(name, {
        type: { kind: "object", members: membersOf(nodes(inner["body"]), `${name}.`) },
        bases: [],
      });
    else if (declaration.type === "TSTypeAliasDeclaration")
      into.set(name, { type: typeOf(node(declaration["typeAnnotation"]), `${name}.`), bases: [] });
    else if (declaration.type === "TSEnumDeclaration")
      into.set(name, { type: enumOf(nodes(inner["members"])), bases: [] });
  }
}

const baseOf = (base: Node): string =>
  base.type === "MemberExpression"
    ? `${baseOf(node(base["object"]))}.${baseOf(node(base["property"]))}`
    : String(base["name"]);

const enumOf = (members: readonly Node[]): Type => ({
  kind: "union",
  types: members.map((one) => ({ kind: "literal", value: node(one["initializer"])["value"] })),
});

/** The types of some declaration files, by name. */
export class SdkTypes {
  readonly #declared = new Map<string, Declared>();

  constructor(...files: readonly string[]) {
    for (const file of files) {
      const path = new URL(`../../node_modules/${file}`, import.meta.url);
      const { program } = parseSync(file, readFileSync(path, "utf8"));
      declaredIn(program.body as unknown as Node[], "", this.#declared);
    }
  }

  /** Resolves a named type to its definition. */
  resolve(type: Type): Type {
    if (type.kind !== "named") return type;
    const declared = this.#find(type.name, type.scope);
    return declared ? this.#whole(declared) : any;
  }

  /** Searches a name from its own namespace outwards, then without a file prefix. */
  #find(name: string, scope: string): Declared | undefined {
    const outer = scope.split(".").slice(0, -1);
    for (let depth = outer.length; depth >= 0; depth -= 1) {
      const found = this.#declared.get([...outer.slice(0, depth), name].join("."));
      if (found) return found;
    }
    const [, ...rest] = name.split(".");
    return rest.length === 0 ? undefined : this.#find(rest.join("."), "");
  }

  #whole({ type, bases }: Declared): Type {
    const own = this.resolve(type);
    if (bases.length === 0 || own.kind !== "object") return own;
    const inherited = bases.flatMap((one) => {
      const base = this.resolve(one);
      return base.kind === "object" ? [...base.members] : [];
    });
    return { kind: "object", members: new Map([...inherited, ...own.members]) };
  }
}
