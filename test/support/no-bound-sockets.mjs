// Loaded before a gateway with workers (node --import): it finds no sockets that are bound before there is a server, as in an older
// Node. Node's own modules, which know them by another way, keep them.
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

const { BoundSocket } = net;
delete net.BoundSocket;
syncBuiltinESMExports();
net.BoundSocket = BoundSocket;
