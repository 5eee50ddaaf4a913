/** The changes of one node of the syntax tree: operators, conditions, returned values. */

/** A node from the parser (ESTree with TypeScript). */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** Replaces `target` by the expression `to`. */
interface Change {
  readonly target: Node;
  readonly to: string;
}

/** A comparison gets a bound moved by one, or its direction reversed; other operators become their opposite. */
const operators: Record<string, readonly string[]> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "&": ["|"],
  "|": ["&"],
  "<<": [">>"],
  ">>": ["<<"],
  ">>>": ["<<"],
  "&&": ["||"],
  "||": ["&&"],
  "??": ["&&"],
  "+=": ["-="],
  "-=": ["+="],
  "*=": ["/="],
  "/=": ["*="],
  "??=": ["="],
  "||=": ["="],
  "&&=": ["="],
};

const isText = ({ type, value }: Node): boolean =>
  type === "TemplateLiteral" || (type === "Literal" && typeof value === "string");

/** True if a sum visibly joins texts: subtracting texts would not be a plausible mistake. */
function joinsTexts(node: Node): boolean {
  const sides = [node["left"], node["right"]] as Node[];
  return sides.some(
    (side) =>
      isText(side) ||
      (side.type === "BinaryExpression" && side["operator"] === "+" && joinsTexts(side)),
  );
}

const isYesNo = (node: Node): boolean =>
  (node.type === "BinaryExpression" &&
    /^(?:[<>]=?|[!=]==?|in|instanceof)$/.test(node["operator"] as string)) ||
  (node.type === "UnaryExpression" && node["operator"] === "!") ||
  (node.type === "LogicalExpression" &&
    node["operator"] !== "??" &&
    isYesNo(node["left"] as Node) &&
    isYesNo(node["right"] as Node));

/** The changes of a returned value. */
function returned(value: Node): Change[] {
  const to = (text: string): Change => ({ target: value, to: text });
  if (value.type === "Literal" && typeof value["value"] === "boolean")
    return [to(`${!value["value"]}`)];
  if (value.type === "Identifier" && value["name"] === "undefined") return [];
  return isYesNo(value) ? [to("true"), to("false")] : [to("undefined")];
}

/** The changes to another operator between the same two sides. */
function otherOperators(node: Node, source: (node: Node) => string): Change[] {
  const operator = node["operator"] as string;
  if (operator === "+" && joinsTexts(node)) return [];
  const left = source(node["left"] as Node);
  const right = source(node["right"] as Node);
  const assigns = node.type === "AssignmentExpression";
  return (operators[operator] ?? []).map((other) => ({
    target: node,
    to: assigns ? `${left} ${other} ${right}` : `(${left}) ${other} (${right})`,
  }));
}

const withCondition = /^(?:If|While|DoWhile|For)Statement$|^ConditionalExpression$/;

/** All changes of this node itself. */
export function changesOf(node: Node, text: string): readonly Change[] {
  const source = ({ start, end }: Node) => text.slice(start, end);
  const { type, operator } = node;
  if (/^(?:Binary|Logical|Assignment)Expression$/.test(type)) return otherOperators(node, source);
  if (withCondition.test(type)) {
    const condition = node["test"] as Node | null;
    // An endless loop would show nothing.
    const outcomes = /^(?:If|Cond)/.test(type) ? ["true", "false"] : ["false"];
    return condition ? outcomes.map((to) => ({ target: condition, to })) : [];
  }
  const argument = node["argument"] as Node | null;
  const body = node["body"] as Node;
  switch (type) {
    case "UnaryExpression":
      return operator === "!" || (operator === "-" && argument!.type !== "Literal")
        ? [{ target: node, to: source(argument!) }]
        : [];
    case "UpdateExpression": {
      const other = source(node).replace(/\+\+|--/, (sign) => (sign === "++" ? "--" : "++"));
      return [{ target: node, to: other }];
    }
    case "ReturnStatement":
      return argument ? returned(argument) : [];
    case "ArrowFunctionExpression":
      return body.type === "BlockStatement" ? [] : returned(body);
    default:
      return [];
  }
}
