import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

/** Where the Temporal server is, by Temporal's own environment variables and configuration file. */
export interface TemporalAddress {
  address: string;
  namespace: string;
}

export class ServerUnreachableError extends Error {
  readonly code = 'server-unreachable';

  constructor({ address }: TemporalAddress, cause: unknown) {
    super(`no Temporal server answers at ${address}; start one (npm start), or set TEMPORAL_ADDRESS`, {
      cause,
    });
    this.name = 'ServerUnreachableError';
  }
}

const CONNECT_TIMEOUT = '5s';

/** Connection options from Temporal's environment variables and configuration file, with local defaults. */
export function temporalConfig(defaultAddress = 'localhost:7233') {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
  return {
    connection: { ...connectionOptions, address: connectionOptions.address ?? defaultAddress },
    namespace,
  };
}

/**
 * Connects a client. The caller closes `client.connection`.
 * @throws ServerUnreachableError within seconds where no server answers
 */
export async function connectClient(defaultAddress?: string): Promise<Client> {
  const { connection, namespace } = temporalConfig(defaultAddress);
  try {
    return new Client({
      connection: await Connection.connect({ ...connection, connectTimeout: CONNECT_TIMEOUT }),
      namespace,
    });
  } catch (error) {
    throw new ServerUnreachableError({ address: connection.address, namespace }, error);
  }
}
