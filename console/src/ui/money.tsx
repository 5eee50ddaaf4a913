/** An amount of USD: read short, exact when hovered. */
import { exactUsd, parseUsd, readUsd } from "../base/money.ts";

export function Money(props: { amount: string; exact?: boolean; unit?: boolean }) {
  const nano = parseUsd(props.amount);
  const text = props.exact === true ? exactUsd(nano) : readUsd(nano);
  return (
    <span className="number" title={`${exactUsd(nano)} USD`}>
      {text}
      {props.unit === true && " USD"}
    </span>
  );
}
