/** An amount of USD: read short, or shorter still, exact when hovered. */
import { briefUsd, exactUsd, parseUsd, readUsd } from "../base/money.ts";

interface MoneyProps {
  readonly amount: string;
  readonly exact?: boolean;
  /** There is little room. */
  readonly brief?: boolean;
  readonly unit?: boolean;
}

export function Money(props: MoneyProps) {
  const nano = parseUsd(props.amount);
  const read = props.exact === true ? exactUsd : props.brief === true ? briefUsd : readUsd;
  const text = read(nano);
  return (
    <span className="number" title={`${exactUsd(nano)} USD`}>
      {text}
      {props.unit === true && " USD"}
    </span>
  );
}
