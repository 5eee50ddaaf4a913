/** An amount of USD: short or shorter, exact on hover. */
import { briefUsd, exactUsd, parseUsd, readUsd } from "../base/money.ts";

interface MoneyProps {
  readonly amount: string;
  readonly exact?: boolean;
  /** Use the shortest form. */
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
