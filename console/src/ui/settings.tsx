/** The frame of the settings pages: titles and navigation. */
import { Anchor, Group, Text } from "@mantine/core";
import { Link, useRouterState } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { api } from "../api/client.ts";
import { ApiError } from "../api/errors.ts";
import { mayAll } from "../base/rights.ts";
import { Page } from "./page.tsx";
import { RegionError } from "./region-error.tsx";

/** Each section with the right that opens it. */
const sections = [
  { to: "/settings/members", label: "Members", action: "member.create" },
  { to: "/settings/workspaces", label: "Workspaces", action: "workspace.change" },
  { to: "/settings/organization", label: "Organization", action: "organization.change" },
  { to: "/settings/callbacks", label: "Callbacks", action: "signing_secret.read" },
  { to: "/settings/alerts", label: "Alerts", action: "workspace.change" },
  { to: "/settings/gateways", label: "Gateways", action: "gateway.read" },
  { to: "/settings/hooks", label: "Hooks", action: "hook.read" },
  { to: "/settings/audit", label: "Audit log", action: "audit.read" },
] as const;

interface SettingsProps {
  readonly title: string;
  readonly aside?: ReactNode;
  /** The reader may not see this. */
  readonly isClosed?: boolean;
  /** The page shows one workspace, while the menu says "All workspaces". */
  readonly isOneOfMany?: boolean;
  readonly children: ReactNode;
}

export function Settings(props: SettingsProps) {
  const { title, aside, isClosed = false, isOneOfMany = false, children } = props;
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  const shown = sections.filter(({ action }) => me !== undefined && mayAll(me.rights, action));
  return (
    <Page title={title} aside={isClosed ? undefined : aside}>
      <Group component="nav" aria-label="Settings" gap="lg" mb="lg">
        {shown.map(({ to, label }) => {
          const isHere = path.startsWith(to);
          return (
            <Anchor
              key={to}
              fw={isHere ? 650 : 400}
              {...(isHere && { "aria-current": "page" as const })}
              renderRoot={(link) => <Link to={to} search={({ ws }) => ({ ws })} {...link} />}
            >
              {label}
            </Anchor>
          );
        })}
      </Group>
      {isOneOfMany && (
        <Text mb="lg" className="muted">
          This page shows one workspace at a time: now the oldest. Choose another in the menu.
        </Text>
      )}
      {isClosed ? <RegionError what="page" error={new ApiError(404, "")} /> : children}
    </Page>
  );
}
