// Loaded before a gateway with workers (node --import). It hides `BoundSocket`, so that the gateway cannot bind a socket before
// it has a server, as in an older Node. Node's own modules keep it: they import it another way.
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

const { BoundSocket } = net;
delete net.BoundSocket;
syncBuiltinESMExports();
net.BoundSocket = BoundSocket;
