/** A workspace's balance and its components; each number links to its entries if the reader may see them. */
import { Skeleton, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Schemas } from "../../api/client.ts";
import { isMissing } from "../../api/errors.ts";
import { dayMs } from "../../base/durations.ts";
import { exactUsd, fullUsd, parseUsd } from "../../base/money.ts";
import { reaches } from "../../base/pace.ts";
import { More } from "../../ui/more.tsx";
import { RegionError } from "../../ui/region-error.tsx";
import classes from "./money.module.css";
import { useBalance, useBalances, useWeek } from "./queries.ts";

type Balance = Schemas["Balance"];

/** Formats an amount, or the word "unlimited". */
const read = (amount: string, write = exactUsd): string =>
  amount === "unlimited" ? amount : write(parseUsd(amount));

/** Amounts with at least this many characters are set smaller. */
const longFrom = 15;

function Tile(props: {
  title: string;
  amount: string;
  note: string;
  entries?: { ws: string; kind: string } | undefined;
}) {
  const { title, note, entries } = props;
  const amount = read(props.amount);
  const inside: ReactNode = (
    <>
      <span className="muted">{title}</span>
      <span className={`${classes["amount"]} ${amount.length > longFrom ? classes["long"] : ""}`}>
        {amount}
      </span>
      <span className="muted">{note}</span>
    </>
  );
  if (entries === undefined) return <div className={classes["tile"]}>{inside}</div>;
  return (
    <Link className={classes["tile"]} to="/money/ledger" search={entries}>
      {inside}
    </Link>
  );
}

/** A projection over more days is meaningless. */
const daysMax = 365;

/** How long the available money lasts at the pace of the last week, in words; only for readers who see all spending. */
function useRunOutText(id: string, available: string, mayRead: boolean): string | undefined {
  const { spent, begin, now } = useWeek(id, mayRead && available !== "unlimited");
  if (spent === undefined || spent === 0n) return undefined;
  const end = reaches(spent + parseUsd(available), { spent, begin, now });
  const days = end === undefined ? Infinity : (end.getTime() - now.getTime()) / dayMs;
  if (days > daysMax) return undefined;
  const read = days < 2 ? `${Math.floor(days * 24)} hours` : `${Math.floor(days)} days`;
  return `lasts about ${read} at the rate of the last 7 days`;
}

function Tiles({ balance, id, mayRead }: { balance: Balance; id: string; mayRead: boolean }) {
  const entries = (kind: string) => (mayRead ? { ws: id, kind } : undefined);
  const { available, credits, charged, held, credit_line: line } = balance;
  const lasting = useRunOutText(id, available, mayRead);
  const isSpent = available !== "unlimited" && parseUsd(available) <= 0n;
  return (
    <div className={classes["tiles"]}>
      <Tile
        title="Available (USD)"
        amount={available}
        note={
          isSpent
            ? "calls are refused"
            : (lasting ?? "credits and credit line, less charged and held")
        }
      />
      <Tile
        title="Credits (USD)"
        amount={credits}
        note="all credits added"
        entries={entries("credit")}
      />
      <Tile
        title="Charged (USD)"
        amount={charged}
        note="for ended calls and tasks"
        entries={entries("charge")}
      />
      <Tile title="Held (USD)" amount={held} note="for running calls and tasks" />
      <Tile title="Credit line (USD)" amount={line} note="allowed beyond credits" />
    </div>
  );
}

export function BalanceOf({ id, mayRead }: { id: string; mayRead: boolean }) {
  const { data, error, refetch } = useBalance(id);
  const what = isMissing(error) ? "workspace" : "balance";
  if (error !== null) return <RegionError what={what} error={error} retry={refetch} />;
  if (data === undefined) return <Skeleton height={98} mb="xl" />;
  return <Tiles balance={data} id={id} mayRead={mayRead} />;
}

const columns = ["available", "credits", "charged", "held"] as const;

/** One workspace's line, if the reader sees several. */
function BalanceLine({ balance }: { balance: Balance }) {
  const { workspace_id: id, workspace_name: name } = balance;
  return (
    <tr>
      <td className="cut" title={name}>
        <Link to="/money" search={{ ws: id }}>
          {name}
        </Link>
      </td>
      {columns.map((field) => (
        <td
          key={field}
          className={`${classes["right"]} ${field === "available" ? "" : classes["wide"]}`}
        >
          {read(balance[field], fullUsd)}
        </td>
      ))}
    </tr>
  );
}

/** The sums over all workspaces, without the available money: some workspaces may be unlimited. */
function BalanceSums({ sum }: { sum: Schemas["Balances"]["sum"] }) {
  if (sum === undefined) return null;
  const [credits, charged, held] = [sum.credits, sum.charged, sum.held].map((usd) =>
    fullUsd(parseUsd(usd)),
  );
  return (
    <Text size="sm" my="xs">
      All {sum.workspaces} together: credits {credits}, charged {charged}, held {held} USD.
    </Text>
  );
}

/** The balances of all `count` workspaces, page by page. */
export function Balances({ count }: { count: number }) {
  const balances = useBalances();
  const { data, error, refetch } = balances;
  if (error !== null && data === undefined)
    return <RegionError what="balances" error={error} retry={refetch} />;
  if (data === undefined) return <Skeleton height={98} mb="xl" />;
  const rows = data.pages.flatMap((page) => page.data);
  return (
    <>
      <table className={classes["table"]} width="100%" aria-label="Balances">
        <thead>
          <tr>
            <th style={{ textAlign: "left" }}>Workspace</th>
            <th className={classes["right"]}>Available (USD)</th>
            {["Credits (USD)", "Charged (USD)", "Held (USD)"].map((title) => (
              <th key={title} className={`${classes["right"]} ${classes["wide"]}`}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((balance) => (
            <BalanceLine key={balance.workspace_id} balance={balance} />
          ))}
        </tbody>
      </table>
      <BalanceSums sum={data.pages[0]?.sum} />
      <More next={balances} label={`Show more of ${count}`}>
        <Text size="sm" className="muted">
          Choose a workspace to see its caps and ledger.
        </Text>
      </More>
    </>
  );
}
