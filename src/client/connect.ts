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

/** Temporal's own environment variables or configuration file cannot be used. Exit code 2. */
export class TemporalConfigError extends Error {
  readonly code = 'bad-setting';

  constructor(cause: unknown) {
    super(
      `the TEMPORAL_* variables or Temporal's configuration file cannot be used: ${(cause as Error).message}`,
      {
        cause,
      },
    );
    this.name = 'TemporalConfigError';
  }
}

const CONNECT_TIMEOUT = '5s';

function load() {
  try {
    return loadClientConnectConfig();
  } catch (error) {
    throw new TemporalConfigError(error);
  }
}

/** The address that Temporal's environment variables or configuration file name. */
export function configuredAddress(): string | undefined {
  return load().connectionOptions.address;
}

/**
 * Connection options from Temporal's environment variables and configuration file, with local defaults.
 * @throws TemporalConfigError
 */
export function temporalConfig(defaultAddress = 'localhost:7233') {
  const { connectionOptions, namespace = 'default' } = load();
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
