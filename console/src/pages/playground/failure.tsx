/** Why a call was refused: the gateway's message, with the reached cap or the retry time. */
import { Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { api } from "../../api/client.ts";
import { asApiError } from "../../api/errors.ts";
import { CapBar } from "../../ui/cap-bar.tsx";

function Countdown({ until }: { until: Date }) {
  const [nowMs, setNow] = useState(() => Date.now());
  const left = Math.max(0, Math.ceil((until.getTime() - nowMs) / 1000));
  const isOver = left === 0;
  useEffect(() => {
    if (isOver) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isOver]);
  return <Text size="sm">{left === 0 ? "You can try again now." : `Try again in ${left} s.`}</Text>;
}

type Window = "total" | "monthly" | "weekly" | "daily";

/** The cap of the key that a refusal names. */
function Cap({ keyId, code }: { keyId: string; code: string }) {
  const window = /^key_(total|monthly|weekly|daily)_/.exec(code)?.[1] as Window | undefined;
  const { data } = api.useQuery(
    "get",
    "/admin/v1/keys/{id}",
    { params: { path: { id: keyId } } },
    { enabled: window !== undefined, staleTime: 0 },
  );
  if (window === undefined || data === undefined) return null;
  const resets = window === "total" ? undefined : (data.resets_at[window] ?? undefined);
  return (
    <CapBar
      label={`${window} cap of the key`}
      cap={data.spend_caps[window] ?? null}
      spent={data.spend[window]}
      remaining={data.remaining[window] ?? null}
      resetsAt={resets}
    />
  );
}

export function Failure({ error, keyId }: { error: unknown; keyId: string }) {
  const { status, code, message, retryAt } = asApiError(error);
  return (
    <div role="alert" style={{ overflowWrap: "anywhere" }}>
      <Text size="sm" fw={500} className="bad">
        {[status === 0 ? "" : status, code].join(" ").trim() || "The call failed"}
      </Text>
      <Text size="sm">{message}</Text>
      {status === 402 && <Cap keyId={keyId} code={code} />}
      {retryAt !== undefined && <Countdown until={retryAt} />}
    </div>
  );
}
