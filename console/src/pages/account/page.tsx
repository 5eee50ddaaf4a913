/** The account page: user, password, display settings, sessions, personal tokens. */
import { Button, SegmentedControl, Stack, Text, Title, useMantineColorScheme } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { Page } from "../../ui/page.tsx";
import { useZone, zoneOf, zones } from "../../ui/zone.ts";
import { Sessions } from "./sessions.tsx";
import { Tokens } from "./tokens.tsx";

const schemes = [
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
  { value: "auto", label: "Follow the system" },
] as const;

function Scheme() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      aria-label="Colours"
      data={schemes.map(({ value, label }) => ({ value, label }))}
      value={colorScheme}
      onChange={(value) =>
        setColorScheme(schemes.find((one) => one.value === value)?.value ?? "auto")
      }
    />
  );
}

const zoneNames = { local: "In my zone", utc: "In UTC" } as const;

function Times() {
  const [zone, choose] = useZone();
  return (
    <SegmentedControl
      aria-label="Times"
      data={zones.map((value) => ({ value, label: zoneNames[value] }))}
      value={zone}
      onChange={(value) => choose(zoneOf(value))}
    />
  );
}

export function AccountPage() {
  const { data: me } = api.useQuery("get", "/admin/v1/me");
  return (
    <Page title="Account">
      <Stack gap="xl" align="flex-start">
        <div>
          <Text>{me?.name}</Text>
          <Text className="muted">
            {me?.organization_admin === true
              ? "Organization admin"
              : me?.memberships.map(({ role }) => role).join(", ")}
          </Text>
        </div>
        <Stack gap="sm" align="flex-start">
          <Title order={2} size="h4">
            Password
          </Title>
          <Button variant="default" renderRoot={(props) => <Link to="/password" {...props} />}>
            Change password
          </Button>
        </Stack>
        <Stack gap="sm" align="flex-start">
          <Title order={2} size="h4">
            Colours
          </Title>
          <Scheme />
        </Stack>
        <Stack gap="sm" align="flex-start">
          <Title order={2} size="h4">
            Times
          </Title>
          <Times />
          <Text size="sm" className="muted">
            Days, periods and caps are always in UTC.
          </Text>
        </Stack>
        <Sessions />
        <Tokens />
      </Stack>
    </Page>
  );
}
