/** Generates docs/management.md: the use of the management API, and permissions from the table that the gateway uses. */
import { rights, type Action, type Role } from "../src/admin/index.ts";

const reaches = {
  nothing: "-",
  own: "own",
  workspace: "workspace",
  everything: "all",
} as const;

const roles: readonly Role[] = ["organization_admin", "workspace_admin", "member"];

const row = (action: Action): string =>
  `| \`${action}\` | ${roles.map((role) => reaches[rights[action][role]]).join(" | ")} |`;

export function managementPage(): string {
  return `# Managing

<!-- Generated from src/admin/rights.ts by \`npm run docs\`; its words are in scripts/docs-management.ts. -->

Organizations, workspaces, members, keys and money are managed under \`/admin/v1\`. Every path, field and error is in the
API reference at \`/docs\` of a running gateway. API keys do not open it, and its credentials do not open \`/v1\`.

## Who you are

| credential       | how to get it                                                                                                | what it may do                   |
| ---------------- | ------------------------------------------------------------------------------------------------------------ | -------------------------------- |
| admin token      | \`TOLLGATE_ADMIN_TOKEN\`; without it one is derived from the master key and written to \`admin-token\` in the data directory, the same on every gateway with that master key | administers everything           |
| console session  | \`POST /auth/sign-in/email\`, or the identity provider of \`console.oidc\`                                       | what its user may do             |
| personal token   | \`POST /admin/v1/tokens\` with a session; shown once                                                           | what its user may do, until it ends, is revoked, or the password changes |

From a fresh start with the sandbox to a bill, line by line; the same with \`npx tollgate\` is below:

\`\`\`sh
TOLLGATE_ADMIN_TOKEN=$(cat .tollgate/admin-token)
admin() { curl -sS -H "Authorization: Bearer $TOLLGATE_ADMIN_TOKEN" -H "Content-Type: application/json" "http://127.0.0.1:8080/admin/v1$@"; }

admin "/workspaces"                                              # who spends: note an id
WORKSPACE=ws_...
admin "/workspaces/$WORKSPACE/credits" -H "Idempotency-Key: invoice-1" -d '{"amount": "25.00"}'
admin "/keys" -d '{"workspace_id": "'$WORKSPACE'", "name": "ci", "spend_caps": {"daily": "5.00"}}'    # note the key
KEY=gw_live_...
curl -sS http://127.0.0.1:8080/v1/chat/completions -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{"model": "sandbox/chat", "messages": [{"role": "user", "content": "Hello!"}]}'
admin "/requests?limit=1"                                        # what it did, what it cost, who was asked and why
admin "/usage?granularity=day&group_by=model"
admin "/workspaces/$WORKSPACE/balance"
\`\`\`

\`\`\`sh
npx tollgate workspaces list
npx tollgate credits add 25.00 --reference invoice-1
npx tollgate keys create --name ci --daily-cap 5.00
npx tollgate members add ada@example.com --role admin
npx tollgate usage --by model --granularity day
npx tollgate requests list --status failed
npx tollgate requests show req_...                               # why it failed, who was asked, what it cost
\`\`\`

The commands ask the gateway that runs on the data directory, or at \`--url\` with \`TOLLGATE_ADMIN_TOKEN\`. Where none
runs they work on its database. \`--json\` prints what the API answers; of keys, workspaces
and members, whose lists are read to their end, the rows alone.

A second \`credits add\` or \`credits take\` with the same \`--reference\` changes nothing. With the same amount it says what was counted
and exits with 0. With another amount it is refused, names the first amount, and exits with 1.

- Ten wrong passwords in five minutes close an account to sign-ins for the rest of them, on all gateways. However the
  address is typed, it is one account. Fifty from one network address close that address.
- A stranger who guesses does not lock out the owner. A browser in which somebody signed in before gets past both limits, and
  has ten attempts of its own, at that user's password alone.
- Its cookie \`tollgate.browser\` opens nothing. It ends after 90 days, and with the password. \`rememberMe: false\` leaves none.
- Changing the password, with a session, has ten attempts of its own. So does accepting an invitation, per e-mail address.
- What remains: during an attack, a browser that the owner never used has to wait. Open sessions and tokens go on.
- A process looks at two passwords at a time, and 30 wait; more sign-ins are 503 \`overloaded\`. So strangers who guess leave
  its threads to calls. Browsers in which somebody signed in before have one turn more of their own.
  Who has no turn reads 503 \`overloaded\`, which is no wrong password.
- A change with a session's cookie is refused to pages of other origins. Behind a proxy, pass the \`Host\` header on.

## How much people may make

| what                                                             | at most                   |
| ---------------------------------------------------------------- | ------------------------- |
| API keys of one member in one workspace                          | 1000                      |
| personal tokens of a user                                        | 100                       |
| members of a workspace who are invited, or were added within a day | 1000                      |
| test events of a workspace                                       | 100 an hour               |
| open sessions of a user                                          | 100; the oldest one ends  |

One more is 409 \`conflict\`, and says what to do. Revoked keys and tokens count for a day after they were made, and
expired keys for a day after their end. Organization administrators make and invite as many as they
need, for others too. Some more pass where many are made at once.

## How people join

\`POST /workspaces/{id}/members {email, role, password?}\` invites. The member is there at once, with status
\`invited\` and without any right, and becomes \`active\` when the person accepts. The answer has:

| field | what it is |
| --- | --- |
| \`user_id\` | names the member in paths, now and later |
| \`invitation {id, url, expires_at}\` | the link, shown once. Whoever holds it may accept, once, within seven days |
| \`one_time_password\` | where you sent no \`password\`: another way to accept, for seven days |

\`\`\`sh
npx tollgate members add ada@example.com --role admin            # prints the link
INVITATION=gw_inv_...                                            # what stands behind its #

curl -sS http://127.0.0.1:8080/auth/invitations/read -H "Content-Type: application/json" \\
  -d '{"token": "'$INVITATION'"}'                                # which organization and workspace
curl -sS http://127.0.0.1:8080/auth/invitations/accept -H "Content-Type: application/json" -c cookies \\
  -d '{"token": "'$INVITATION'", "password": "a password of my own", "name": "Ada"}'
curl -sS http://127.0.0.1:8080/admin/v1/me -b cookies
\`\`\`

There are five ways to accept:

- **Open the link in a browser.** It shows a form; opening it changes nothing.
- **Choose a password**, as above. The password of an account with the same address joins with that account.
- **Join as who you are**: the same call with a session's cookie and without \`password\`. Your own address does not matter.
- **Sign in with the one-time password** (or the \`password\` that an admin chose), and change it. It opens one session,
  and every call with that session is 403 \`password_change_required\` except \`POST /auth/change-password\` and
  \`POST /auth/sign-out\`. Changing the password accepts the invitation.
- **Sign in with a \`password\` that was set with the admin token**, within the seven days. It is the member's own: signing in
  accepts, and nothing need be changed. So a script can add members that work at once, also one person to several workspaces
  with one password. Whoever has the admin token may do all that members may, so it tells them nothing new.

What holds:

- An address proves nothing. Each invitation has a user of its own, and nobody joins a workspace by the address alone. So
  a user whom another organization added, with a password that it knows, opens nothing of yours.
- Several users can have one address. At sign-in the password decides. Where it is the own password of several, they are one
  person: their open invitations become those of the one who has joined before, else of the newest.
- The answer is the same, and takes the same time, whether the address is known here or not. 409 says that it is a
  member of this workspace.
- Inviting an address again replaces link, password, role and caps, and keeps \`user_id\`. It ends sessions and personal
  tokens of that user. Somebody who has joined another workspace since keeps theirs, and the invitation has another
  \`user_id\`.
- Once an invitation is over, the password that it came with opens nothing.
- To take an invitation back:
  \`DELETE /workspaces/{id}/invitations/{invitation_id}\`, or remove the member.
- Tokens and passwords are kept as hashes. An invitation that was used, replaced, taken back or has expired is 404.
- The identity provider of \`console.oidc\` verifies addresses. Signing in with it accepts all open invitations of that
  address. The first time, it also ends a password that somebody else may know, with its sessions and personal tokens.
  An address that the provider says is not verified (\`email_verified: false\`) finds nobody.
- Whoever has signed in there is known by the provider's \`issuer\` and their id at it. With another \`issuer\` people are
  found by their verified address again, and the same id at another provider is somebody else.
- A change is made with the rights that its caller has when its body has arrived whole, not when it began.
- \`POST /auth/change-password {currentPassword, newPassword, keep_tokens?}\` ends all other sessions, and personal tokens
  unless \`keep_tokens\` is true. Its answer sets the cookie of a new session.
- The audit log has \`member.create\`, \`invitation.create\`, \`invitation.revoke\`, \`invitation.accept\`,
  \`password.change\`, and \`password.end\` where the identity provider ended a password.

### Your identity provider

Register the gateway there as a web client with a secret (OpenID Connect, authorization code), and name it in the
configuration:

\`\`\`yaml
console:
  oidc:
    issuer: https://login.example.com
    client_id: tollgate
    client_secret: \${OIDC_CLIENT_SECRET}
\`\`\`

- **Redirect URI**: \`TOLLGATE_PUBLIC_URL\` and \`/auth/callback/oidc\`, such as \`https://gateway.example.com/auth/callback/oidc\`.
- **Client authentication**: \`client_secret_post\`, or \`client_secret_basic\` where the discovery document names that and not the other.
  PKCE is used.
- **Scopes**: \`openid email profile\`. The ID token or the userinfo endpoint must have \`email\`.
- **Discovery**: \`/.well-known/openid-configuration\` below \`issuer\` is read at the first sign-in.
- **What is believed**: an ID token that is signed, has an end, and is for this client (\`azp\` too) and of this sign-in. What the userinfo endpoint says counts
  where it is about the same \`sub\`.
- **What is kept**: \`issuer\` and \`sub\`. Its access, refresh and ID tokens are not.
- Where it is silent, signing in there is 504 after ten seconds. Passwords and sessions do not need it.
- Signing in makes nobody a member: add people first, by the address that the provider knows.
- **Who leaves**: the provider is asked at sign-in alone. Whoever is removed there keeps their personal tokens, and a session until it
  was not used for a week. Remove them here, too.

## Where you are signed in, and a lost password

\`GET /sessions\` lists your open sessions, with \`ip\` and \`user_agent\` of their beginning. \`DELETE /sessions/{id}\` ends
one, and \`DELETE /sessions\` all but the one that asks. Nobody sees those of somebody else.

\`POST /workspaces/{id}/members/{user_id}/reset_password\` makes a link with which a member chooses a new password. The
answer has \`url\`, once, and \`expires_at\`. The link opens a page of the console, which sends its last part in a body:

\`\`\`sh
curl -sS http://127.0.0.1:8080/auth/password-resets/use -H "Content-Type: application/json" -c cookies \\
  -d '{"token": "gw_pwr_...", "password": "a password of my own"}'
\`\`\`

- A link works once, for 24 hours. A new link replaces it, and a password that is changed ends it.
- The password opens every workspace of its user. So a workspace admin makes links only for members who are in no
  workspace that the admin does not administer. For others, for organization admins, and for who signs in with the
  identity provider it takes an organization admin.
- The rule is looked at again when the link is used. It is 404 once its maker or the member has left, or the member is
  in another workspace.
- Using it ends all sessions and personal tokens of the user. The old password works until then.
- The audit log has \`session.end\`, \`member.reset_password\` and \`password.reset\`.

## How it answers

- Lists are \`{data, has_more, next_cursor}\`; \`?cursor=\` takes \`next_cursor\`. Money is decimal strings of USD.
- In a change \`null\` means no limit, and what is absent stays as it is. Unknown fields are refused.
- Objects come with an \`ETag\`. Sent back as \`If-Match\`, it makes a change fail with 412 where somebody else was
  faster.
- What you may not see is answered like what does not exist.
- A change is in force on every gateway when it is answered, and in \`GET /admin/v1/audit\`: who, what, from what to
  what, without secrets.
- \`GET /balances\` has what each workspace that you see has left, in pages: the same numbers as \`/workspaces/{id}/balance\`.
  \`order=available\` has the least left first. The first page has the \`sum\` of all.
- A new key's \`expires_at\` is to come. In a change, one that is over ends the key at once.
- \`GET /models?key_id=\` says of each model whether that key may call it, and which layer is the first to leave it out.
  \`ids\` names up to twenty models, with their parameters and exact domains.
- Models of an allowlist that a layer above leaves out stay in it, named in \`out_of_scope_models\`.
- An allowlist takes ids of models. A name that is no id is taken, because the model may come, and allows nothing until then.
  \`unknown_models\` names the first of them: \`did_you_mean\` is the model whose alias it is (\`is_alias\`) or whose id is like it.
  \`tollgate keys create\` and \`workspaces create\` print the same as notes.
- Whoever is removed from a workspace has their keys in it disabled. \`POST .../members/{user_id}/restore\` takes that
  back within ten minutes: role, caps, limits, and the keys that stopped with it.

## What happened

| path | what it shows |
| --- | --- |
| \`/requests\`, \`/requests/{id}\` | every call and every task that ended: model, provider, usage, cost, times, what was dropped, each attempt, the plan and why. The id is the call's \`x-request-id\` |
| \`/tasks\`, \`/tasks/{id}\` | tasks as their callers read them, with attempts, reservation, deadline. \`/tasks/{id}/shapes\` has all four shapes, \`POST .../{id}/cancel\` cancels by the callers' rule |
| \`/webhook_deliveries\` | callbacks and each try. \`POST .../{id}/redeliver\` sends one again, \`POST /workspaces/{id}/webhook_test\` tries an address |
| \`/usage\` | requests, errors, tokens, times and cost by \`hour\`, \`day\`, \`month\` or in \`total\`, by one group; see below |
| \`/models\`, \`/providers\` | the configuration, with the health that the answering gateway sees: \`out\` is left out of plans for now |
| \`/verify\` | \`POST\` checks that every balance, counter and sum is what the entries come to; \`GET\` shows the run under way or the last one: \`state\` and \`differences\`. Organization admins, one run at a time on all gateways |
| \`/gateways\` | the processes that serve: version, start, when last heard of, calls under way, lateness of the event loop, memory. Organization admins |
| \`/audit\` | who changed what |

- \`/requests/{id}\` adds what the list leaves out. \`error\` has the message that the caller got, \`reserved\` what was set
  aside, \`changes\` each field that was changed, and \`price_lines\` the charge line by line. The lines add up to \`cost\`
  exactly. The price that charged a call is kept with it, so later prices change nothing; \`price_lines_from\` is \`call\`. A call from before
  this was kept is explained by today's price where that comes to the same cost: \`catalog\`. Else its \`price_lines\` is null.
  \`/requests\` has the lines too, and its CSV as JSON in one cell.
- \`/requests/{id}/body\` is what was asked, sent on and answered, word for word, for who may read the request. It is kept
  where the workspace says so: \`keep_bodies\` is \`off\`, \`errors\` or \`all\`, and \`body_retention_days\` is 1 to 90. Switching
  it on is in the audit log. Text and embedding calls are kept, up to 256 kB of each text; pictures and videos are not. Texts are
  sealed with the master key. Headers are never among them, and keys, tokens and signing secrets within the texts are masked. Changed days count for what is
  kept already. A process that cannot write fast enough keeps fewer calls, and says so in its log.
- \`/requests?view=list\` has small rows without plans, attempts, notes and price lines, with \`key_name\`, \`error\` (the code),
  \`attempts_count\` and \`dropped_count\`. \`/requests\` filters by \`member_id\`, \`attempted_provider\`, \`protocol\`, \`http_status\`,
  \`error_code\`, \`min_cost\`, \`min_duration_ms\`, \`q\` (text in the error) and \`changed\` too. Such a page looks at some 50,000 rows; \`scanned_to\` says how far back it looked.
  Over more than 25 workspaces it looks back step by step, for half a second or a little more.
  \`status\` takes several by commas.
- \`/requests/{id}/neighbours\` has the ids of the calls before and after one: \`previous\` and \`next\` in the list with the same
  filters and order.
- \`/keys/{id}/clients\` shows where a key was used from within 30 days: \`ip\`, \`user_agent\` (the last one, 200
  characters of it), \`first_seen_at\`, \`last_seen_at\` and \`requests\`. The hundred addresses used last are kept. Behind a
  proxy set \`TOLLGATE_TRUSTED_PROXIES\`, or every address is the proxy's.
- \`/search?q=\` finds up to five each of the keys, members, workspaces and models that you see, by a part of a name.
- \`/events\` is what is new, as it comes: server-sent events for the console, with its session only. \`topics\` names what to
  follow: \`requests\`, \`tasks\`, \`deliveries\`, \`providers\`, \`usage\`, \`gateways\`, \`verification\`. \`row\` is a row as its
  list shows it, to whoever sees it there. \`changed\` names a topic that is no row and is another now: read it again.
  Only who may read it hears of it. Of more than 20 rows in a second there is only \`skipped\` with their number. A stream that broke goes on by
  \`Last-Event-ID\`, up to 1,000 rows; beyond that \`reset\` says to read the lists again. Without readers nothing is
  asked of the database, and else one query a second for all of them, and a small one where somebody follows
  \`gateways\` or \`verification\`. Rights are looked at again every minute.
- Lists are newest first, over all workspaces you see, with \`from\` (counts) and \`to\` (does not). A page costs the
  same however long the log is; rare filters scan the log; set \`from\`.
- Costs of \`/usage\` are the charges of the ledger within the period, so they add up to it to the last nano-dollar. A
  call counts when it was charged; free calls count at their start time. Model, provider and tokens come from the
  request log: where a crash lost a row, its cost is there with a null model.
- \`/usage\` has every count that is charged, so that a vendor's invoice can be compared with it. Beside tokens, images and seconds
  these are cache writes (those for an hour apart), sound, images given, web searches and the vendor's own image tool. Which count is part of
  another says [the document of the API](openapi.json). Whole hours from before a count was added have 0 of it.
- \`/usage\` groups by \`model\`, \`key\` (with \`key_name\`), \`provider\`, \`member\` (with \`member_email\`), \`workspace\` (with \`workspace_name\`), \`protocol\`, \`status\` or
  \`error_code\`. It filters by \`workspace_id\`, \`key_id\`, \`member_id\`, \`model\`, \`provider\`, \`protocol\` and \`status\`.
  \`top=4\` gives the four dearest groups of the whole period, and one row with \`other: true\` for the rest. Cost without
  a log row stays a row of its own, with a null name.
- \`/usage?also_by=model,key\` sums the same calls by these groups too. \`also\` has the rows of each: requests, errors, tokens in and
  out, and cost. All of them are of one moment, and cost less than a question for each. \`top\` goes for each. A group
  with more than 10,000 rows is cut, and has \`has_more: true\`.
- \`/usage\`, \`/requests\` and \`/workspaces/{id}/ledger\` answer with CSV to \`Accept: text/csv\`: the same rows for the same
  readers, up to 100,000 of them. \`from\` and \`to\` are needed. Text that a spreadsheet could take for a formula gets an
  apostrophe before it, also behind a \`;\`, a \`|\` or a tab within a cell. A last line says where it was cut.
- The ledger filters by \`kind\`, \`key_id\`, \`member_id\`, \`reference\`, \`from\` and \`to\`. A page looks at 50,000 entries at
  most, so one with a rare filter may be short although \`has_more\` is true.
- Days and months are those of UTC. \`time_zone=Europe/Berlin\` has those of a place, for up to 31 days: a day on which clocks change has 23 or
  25 hours. \`tz_offset=2\` is for a place that is always two hours ahead. Days may begin within an hour
  of UTC (\`Asia/Kolkata\`): what the sums by hour cannot tell is read from the ledger and the log. Of times whose [calls are gone](operate.md#growth) from the log
  an hour is the smallest part: neighbouring days then share one, so that their totals come to more than the period's.
- \`duration\` and \`first_token\` have \`p50\` and \`p95\` in milliseconds, within 12 %: they come from counters, each a
  quarter wider than the one before. What takes more than 21 minutes counts as 24.
- Usage is read from sums by hour and by day, and what they do not have yet is added from the ledger and the log. So
  an answer is current, and costs the same however long the log is. \`npx tollgate verify\` compares the sums with the
  ledger.
- The addresses of providers, our accounts there, what they call a model, and their own error messages are shown to
  organization admins only. Kept bodies are an exception: \`sent\` has the name that the provider was sent.

## Who may do what

How far a right reaches: **own** (what you made, or what is about you), the **workspace** (everything in workspaces
where you have the role), **all**.

| right | organization admin | workspace admin | member |
| --- | --- | --- | --- |
${(Object.keys(rights) as Action[]).map(row).join("\n")}

Spend caps of a workspace take an organization admin, and a workspace of an organization. A key's owner may lower its
caps; raising or clearing one, or making a hard one soft, takes a workspace admin.

Rate limits, model allowlist and expiry of a key: what an admin set last binds its owner. Within it the owner may set,
tighten and loosen what they like; beyond it takes an admin (403 \`insufficient_permissions\` names the field). What an
admin clears, or never set, is the owner's. For keys from before version 0020 of the database, who set what is not
known, and what was in force then binds.

A key that an admin disabled takes an admin to enable (403 \`insufficient_permissions\`). \`disabled_by_admin\` of the key says so. What the owner
disabled, the owner enables.

\`POST /keys\` with \`user_id\` makes a key for another member, who must be active; without it the key is yours. The member
is its owner (\`created_by\`): it is in their list, their caps bind it, and its spend and usage are theirs. The audit log
names who made it. \`npx tollgate keys create --name ci --user ada@example.com\` does the same.

\`GET /keys\` takes \`q\`: part of a name, the last four characters, or the id. \`sort\` is \`name\`, \`used\` (last used
first), \`spend\` (of this month) or \`cap\` (nearest to a cap first).

\`POST /routing/preview {key_id, model}\` answers which providers a call would go to now, in which order, and why.
\`routing\`, \`model_allowlist\` and \`allow_request_override\` in it stand for those of the key, and nothing is saved.
\`refused\` is the error that such a call would get. Text and embedding models have a preview.

\`POST /keys/{id}/temporary {ttl_s}\` gives whoever may reveal a key a value of it that works for up to 900 seconds, for a
page in a browser. It begins with \`gw_temp_\`, is signed and stored nowhere, and opens only what the key opens. Scope,
caps, limits, log and bill are the key's. It ends at \`expires_at\`, by the clock of the database. Disabling or revoking
the key ends it at once, and so does the key's expiry. After a rotation it works as long as the old value does. The
audit log names each one (\`key.temporary\`).
`;
}
