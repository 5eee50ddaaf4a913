/** A secret, shown for a minute or until the reader leaves the tab. */
import { Button, Group, Text } from "@mantine/core";
import { useEffect, type ReactNode } from "react";
import { Copy } from "./copy.tsx";

const shownMs = 60_000;

interface SecretProps {
  readonly value: string;
  readonly label: string;
  readonly hide: () => void;
  /** The audit log records that it was shown; yes if absent. */
  readonly isAudited?: boolean;
  readonly children?: ReactNode;
}

export function Secret({ value, label, hide, isAudited = true, children }: SecretProps) {
  useEffect(() => {
    const timer = setTimeout(hide, shownMs);
    const left = () => {
      if (document.visibilityState === "hidden") hide();
    };
    document.addEventListener("visibilitychange", left);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", left);
    };
  }, [hide]);
  return (
    <section className="panel" aria-label={label}>
      <Group gap="sm">
        <code className="mono">{value}</code>
        <Copy text={() => value} label={label} />
        <Button size="xs" variant="default" onClick={hide}>
          Hide
        </Button>
      </Group>
      <Text size="sm" mt="sm" className="muted">
        It is hidden again after a minute, or when you leave this tab.{" "}
        {isAudited && "The audit log records that it was shown."}
      </Text>
      {children}
    </section>
  );
}
