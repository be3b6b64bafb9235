// Written from the contracts by `npm run client`.

import { operation } from './operation.ts'

export type AddCredentialRequest = {
  /** The temporaryAuthenticationToken that came with the options */
  temporaryAuthenticationToken: string
  /** Exactly one of the three credentials is required */
  firstFactorCredential?: NewFirstFactor | null | undefined
  secondFactorCredential?: NewSecondFactor | null | undefined
  recoveryCredential?: NewRecoveryKey | null | undefined
  /** Signed as for a login, with a second factor if the user has one */
  confirmation: {
    firstFactor: FirstFactor
    secondFactor?: SecondFactor | null | undefined
  }
}

/** EVM address */
export type Address = `0x${string}`

/** Whole number below 2^256 */
export type Amount = string

/** A user's holding of one token */
export type Balance = {
  /** Amount, in the token's smallest unit */
  balance: Amount
  /** Address with EIP-55 checksum, or base58 on Solana; 0xEeee…EEeE and So111…112 for coins */
  contract_address: string
  /** Decimals of the token */
  contract_decimals: number
  /** Name from the token; may be empty */
  contract_name: string
  /** Symbol from the token; may be empty */
  contract_ticker_symbol: string
  /** True if it looks like spam; spam has no price */
  is_spam: boolean
  /** Value of the balance, in the currency */
  quote: number
  /** Chain key */
  chainName: string
  /** May be empty */
  logo_url: string
  /** Value of today's balance a day ago; 0 if unknown */
  quote_24h: number
  /** Change of the quote in 24 hours, in percent; 0 if unknown */
  quote_24h_variation: number
  /** Price of one whole token */
  quote_rate: number
  /** Price a day ago; 0 if unknown */
  quote_rate_24h: number
  /** Change of the price in 24 hours, in percent; 0 if unknown */
  quote_rate_24h_variation: number
  /** True for the coin of its chain */
  native_token: boolean
  /** True for shares of a vault */
  defi: boolean
  /** True if the price is known; without it, ignore the quotes, which are 0 */
  price_available: boolean
  /** Time of the price */
  price_updated_at: Timestamp | null
}

/** Quote of the bridge */
export type BridgeQuote = {
  /** Amount sent, in the source token's smallest unit */
  inputAmount: Amount
  /** Amount that arrives, in the destination token's smallest unit */
  outputAmount: Amount
  /** Total fee, in the source token's smallest unit */
  feeTotal: Amount
  /** Expected seconds until the transfer arrives */
  expectedFillSeconds: number
  /** Send the transactions before this time */
  expiresAt: Timestamp
}

/** Chain id */
export type ChainId = 1 | 10 | 56 | 100 | 137 | 8453 | 42161 | (number & {})

/** Chain key in the portfolio responses */
export type ChainKey = 'eth-mainnet' | 'optimism-mainnet' | 'bsc-mainnet' | 'gnosis-mainnet' | 'matic-mainnet' | 'base-mainnet' | 'arbitrum-mainnet' | 'solana-mainnet'

/** A chain by its id and name */
export type ChainName = {
  /** Chain id */
  id: number
  /** Chain name */
  name: string
}

export type ClaimableRewardData = {
  /** Chain of the reward */
  chainId: ChainId
  /** Account that owns the reward */
  userAddress: Address
  /** Token that is paid */
  token: Address
  /** The token's own symbol; null if it has none */
  symbol: string | null
  /** The token's decimals */
  decimals: number
  /** Amount that a claim pays now, in the token's smallest unit */
  amount: Amount
  /** `amount` in US dollars */
  usd: number
}

export type ClaimedRewardData = {
  /** Chain of the reward */
  chainId: ChainId
  /** Account that owns the reward */
  userAddress: Address
  /** Token that is paid */
  token: Address
  /** Amount that the claim paid, in the token's smallest unit */
  amount: Amount
  /** Transaction of the claim */
  transactionHash: TransactionHash
  /** Block of that transaction */
  blockNumber: number
}

export type CompleteLoginRequest = {
  /** The challengeIdentifier of POST /auth/login/init */
  challengeIdentifier: string
  firstFactor: FirstFactor
  /** Required if the user has a second factor */
  secondFactor?: SecondFactor | null | undefined
}

export type CompleteLoginResponse = {
  /** Session token; send it as Authorization: Bearer <token> */
  token: string
  expiresAt: Timestamp
  /** User of the session */
  user: {
    /** User id; never changes */
    id: string
    /** E-mail address in lower case */
    email: string
  }
}

export type CompleteRecoveryRequest = {
  /** The temporaryAuthenticationToken that came with the options */
  temporaryAuthenticationToken?: string | null | undefined
  /** Alias of temporaryAuthenticationToken */
  tempAuthToken?: string | null | undefined
  /** Required. Client data type: key.get. Challenge: base64url of newCredentials as JSON text, or the options' challenge */
  recovery?: Recovery | null | undefined
  /** Alias of recovery */
  signedRecoveryPackage?: Recovery | null | undefined
  /** Required. Made as for a registration */
  newCredentials?: {
    firstFactorCredential: NewFirstFactor
    /** A passkey only if the first factor is not one */
    secondFactorCredential?: NewSecondFactor | null | undefined
    recoveryCredential?: NewRecoveryKey | null | undefined
  } | null | undefined
}

export type CompleteRegistrationRequest = {
  /** The temporaryAuthenticationToken that came with the options */
  temporaryAuthenticationToken?: string | null | undefined
  /** Alias of temporaryAuthenticationToken */
  tempAuthToken?: string | null | undefined
  /** Ignored; some clients send it */
  appId?: string | null | undefined
  /** Required, here or in signedChallenge: a new credential to log in with */
  firstFactorCredential?: NewFirstFactor | null | undefined
  /** A passkey only if the first factor is not one */
  secondFactorCredential?: NewSecondFactor | null | undefined
  recoveryCredential?: NewRecoveryKey | null | undefined
  /** The three credentials, as an alternative to the separate fields */
  signedChallenge?: {
    /** Required, here or in signedChallenge: a new credential to log in with */
    firstFactorCredential?: NewFirstFactor | null | undefined
    /** A passkey only if the first factor is not one */
    secondFactorCredential?: NewSecondFactor | null | undefined
    recoveryCredential?: NewRecoveryKey | null | undefined
  } | null | undefined
}

/** A credential as its user sees it */
export type Credential = {
  /** Id of the credential, for `DELETE /auth/credentials/{id}` */
  id: string
  /** Kind of credential */
  kind: 'Fido2' | 'Key' | 'Password' | 'Totp' | 'RecoveryKey' | 'PasswordProtectedKey'
  /** Purpose: first factor of a login, second factor, or recovery */
  factor: 'first' | 'second' | 'recovery'
  /** Name that the user chose */
  name: string | null
  createdAt: Timestamp
  /** Time of its last login or confirmed change */
  lastUsedAt: Timestamp | null
  /** Client's id of a key or a passkey; null for others (a recovery key's is secret) */
  credentialId: string | null
  /** Passkeys only: true if it is backed up */
  backedUp?: boolean | undefined
}

/** WebAuthn descriptor of a key or a passkey */
export type CredentialDescriptor = {
  type: 'public-key'
  /** Client's id of the credential, in base64url */
  id: string
}

/** A deposit and its part of the user's current amounts */
export type Deposit = {
  /** <chainId>-<transactionHash>-<logIndex> */
  depositId: string
  vaultAddress: Address
  /** Display name */
  vaultName: string
  userAddress: Address
  chainId: ChainId
  /** Status of the least advanced part */
  status: 'pending' | 'claimable' | 'completed' | 'cancelled'
  /** Status as text for users */
  statusDescription: string
  /** Amounts, in the smallest units of asset and share */
  amounts: {
    /** Assets deposited */
    depositedAssets: Amount
    /** This deposit's part of the assets waiting for settlement */
    pendingDeposit: Amount
    /** This deposit's part of the shares ready to claim */
    claimableShares: Amount
    /** This deposit's part of the shares in the wallet */
    currentShares: Amount
  }
  /** Current state of the vault */
  vault: {
    /** Percent a year, two decimals; "0.00" if unknown (`annualYield` is then null) */
    apy: string
    /** Growth a year, as of the vaults; null if unknown */
    annualYield: {
      /** Percent, two decimals */
      percent: string
      /** Days between the two prices, two decimals */
      days: number
      /** Time of the earlier price */
      from: Timestamp
      /** Time of the later price */
      to: Timestamp
    } | null
    /** Symbol of the vault's asset */
    assetSymbol: string
    /** Decimals of the vault's asset */
    assetDecimals: number
    /** Decimals of the share token */
    shareDecimals: number
    /** Value of one whole share, in the asset's smallest unit */
    sharePrice: Amount
  }
  /** Request id; 0 for synchronous deposits; null if above 2^53 - 1 */
  epochId: number | null
  timestamp: Timestamp
  transactionHash: TransactionHash
  /** Origin of a deposit from another chain; present once its arrival is final and you have queried its status */
  source?: DepositSource | undefined
}

/** A user cancelled a requested deposit before its settlement. Sent when the vault returns the assets. A cancellation of several deposits has one event for each of the first 20, and one without an id for the rest. Follows `deposit.pending`; nothing follows. */
export type DepositCancelledEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'deposit.cancelled'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: DepositData
}

/** A vault settled a requested deposit, or part of it: its shares can be claimed. Sent at each settlement. `assets` is the amount of the request that this one settled. `shares` is null if the settlement does not report it. Follows `deposit.pending`; followed by `deposit.completed` once the shares are claimed. */
export type DepositClaimableEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'deposit.claimable'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: DepositData
}

/** A user received shares, by an instant deposit or by a claim. Sent for each of these. A claim follows `deposit.claimable`. A claim of several deposits has one event for each of the first 20, and one without an id for the rest. Nothing follows, except the next claim of a partly claimed deposit. */
export type DepositCompletedEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'deposit.completed'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: DepositData
}

export type DepositData = {
  /** Chain of the vault */
  chainId: ChainId
  /** Vault contract */
  vaultAddress: Address
  /** Account that owns the deposit or withdrawal */
  userAddress: Address
  /** Transaction that caused the event; null if the vault emits no event for a settlement and the service read it from the vault */
  transactionHash: TransactionHash | null
  /** Block of that transaction, or the block at which the service read the vault */
  blockNumber: number
  /** `depositId` of the deposit in `GET …/deposits`; null if unknown */
  depositId: string | null
  /** The whole deposit at block `version`; null if it could not be read */
  entry: DepositEntry | null
  /** Block whose state `entry` shows: the last final block, or the latest block with `final: false`. A state of the same id with a higher version is newer; with equal versions, the higher `sequence` is newer */
  version: number
  /** Assets of this event, in the asset's smallest unit; null if unknown */
  assets: Amount | null
  /** Shares of this event, in the share's smallest unit; null if unknown */
  shares: Amount | null
}

/** A deposit as `GET …/deposits` shows it, without `vaultName` and `source` */
export type DepositEntry = {
  /** <chainId>-<transactionHash>-<logIndex> */
  depositId: string
  vaultAddress: Address
  userAddress: Address
  chainId: ChainId
  /** Status of the least advanced part */
  status: 'pending' | 'claimable' | 'completed' | 'cancelled'
  /** Status as text for users */
  statusDescription: string
  /** Amounts, in the smallest units of asset and share */
  amounts: {
    /** Assets deposited */
    depositedAssets: Amount
    /** This deposit's part of the assets waiting for settlement */
    pendingDeposit: Amount
    /** This deposit's part of the shares ready to claim */
    claimableShares: Amount
    /** This deposit's part of the shares in the wallet */
    currentShares: Amount
  }
  /** Current state of the vault */
  vault: {
    /** Percent a year, two decimals; "0.00" if unknown (`annualYield` is then null) */
    apy: string
    /** Growth a year, as of the vaults; null if unknown */
    annualYield: {
      /** Percent, two decimals */
      percent: string
      /** Days between the two prices, two decimals */
      days: number
      /** Time of the earlier price */
      from: Timestamp
      /** Time of the later price */
      to: Timestamp
    } | null
    /** Symbol of the vault's asset */
    assetSymbol: string
    /** Decimals of the vault's asset */
    assetDecimals: number
    /** Decimals of the share token */
    shareDecimals: number
    /** Value of one whole share, in the asset's smallest unit */
    sharePrice: Amount
  }
  /** Request id; 0 for synchronous deposits; null if above 2^53 - 1 */
  epochId: number | null
  timestamp: Timestamp
  transactionHash: TransactionHash
}

/** A user requested a deposit into an asynchronous vault. The vault has the assets and settles the request later. Sent once for each request. Followed by `deposit.claimable` or `deposit.cancelled`. */
export type DepositPendingEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'deposit.pending'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: RequestedDepositData
}

/** An earlier event with `final: false` no longer holds: a reorganisation of the chain removed its block. Sent to webhooks with `finality: "latest"`, in place of the event with `final: true`. If it happens again in another block, the service sends a new event. It comes before the event that takes its place. `entry` is the deposit as it stands now. If it is null and the id is not, delete the deposit. If the id is null, read the deposit again. */
export type DepositRevertedEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'deposit.reverted'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: RevertedDepositData
}

/** Origin of a deposit from another chain */
export type DepositSource = {
  chainId: ChainId
  transactionHash: TransactionHash
}

/** Time from a request to its settlement, from the vault's last settlements */
export type EstimatedSettlement = {
  /** Median wait of its last settlements, in seconds */
  p50: number
  /** 90th percentile of these waits, in seconds */
  p90: number
}

/** Block that the response is based on, and the number of hosts that confirm it */
export type Evidence = {
  chainId: ChainId
  /** Block number; the earliest if the service read several blocks */
  blockNumber: number
  /** Block hash */
  blockHash: TransactionHash
  /** Block time */
  timestamp: Timestamp
  /** Number of hosts that returned the same data. If two nodes are at different heights, the block is the lower one */
  nodes: number
}

/** A first factor's response to the challenge */
export type FirstFactor = {
  kind: 'Fido2'
  /** Response to the challenge */
  credentialAssertion: {
    /** base64url of at most 1023 bytes */
    credId: string
    /** Signed client data, in base64url */
    clientData: string
    /** Authenticator data, in base64url */
    authenticatorData: string
    /** Signature of the client data, in base64url */
    signature: string
    /** User handle from the authenticator, in base64url */
    userHandle?: string | '' | null | null | undefined
    /** Ignored; some clients send it */
    algorithm?: string | null | undefined
  }
} | {
  /** A client's key, plain or encrypted with a password */
  kind: 'Key' | 'PasswordProtectedKey'
  /** Response to the challenge */
  credentialAssertion: {
    /** base64url of at most 1023 bytes */
    credId: string
    /** Signed client data, in base64url */
    clientData: string
    /** Signature of the client data, in base64url */
    signature: string
    /** Signature algorithm, if not the key's default: SHA256, SHA512 or RSA-SHA256 */
    algorithm?: string | null | undefined
  }
} | {
  kind: 'Password'
  /** 8 to 256 characters */
  password: string
}

export type GetCoinChartResponse = {
  /** Pairs of epoch milliseconds and price, ascending; the last one is now */
  prices: [number, number][]
  /** May be empty */
  market_caps: [number, number][]
  /** May be empty */
  total_volumes: [number, number][]
  /** Currency of the prices */
  currency: 'usd' | 'eur' | 'gbp' | 'chf' | 'jpy' | 'aed' | 'ars' | 'aud' | 'bdt' | 'bhd' | 'bmd' | 'brl' | 'cad' | 'clp' | 'cny' | 'czk' | 'dkk' | 'gel' | 'hkd' | 'huf' | 'idr' | 'ils' | 'inr' | 'krw' | 'kwd' | 'lkr' | 'mmk' | 'mxn' | 'myr' | 'ngn' | 'nok' | 'nzd' | 'php' | 'pkr' | 'pln' | 'rub' | 'sar' | 'sek' | 'sgd' | 'thb' | 'try' | 'twd' | 'uah' | 'vef' | 'vnd' | 'zar' | 'xdr' | 'xag' | 'xau' | 'bits' | 'sats' | 'btc' | 'eth' | 'ltc' | 'bch' | 'bnb' | 'eos' | 'xrp' | 'xlm' | 'link' | 'dot' | 'yfi'
  /** Number of days in the chart */
  days: string
  /** True if the chart has fewer days than requested */
  truncated: boolean
}

export type GetCoinResponse = {
  /** CoinGecko id */
  id: string
  /** Symbol */
  symbol: string
  /** Name */
  name: string
  /** May be empty */
  image: string
  /** Price, in the currency */
  current_price: number
  /** Market cap, in the currency; null if unknown */
  market_cap: number | null
  /** Rank, 1 for the largest; null if unknown */
  market_cap_rank: number | null
  /** Volume of the last 24 hours, in the currency; null if unknown */
  total_volume: number | null
  /** Highest price of the last 24 hours; null if unknown */
  high_24h: number | null
  /** Lowest price of the last 24 hours; null if unknown */
  low_24h: number | null
  /** Change in 24 hours, in the currency; null if unknown */
  price_change_24h: number | null
  /** Change in 24 hours, in percent; null if unknown */
  price_change_percentage_24h: number | null
  /** Whole coins; null if unknown */
  circulating_supply: number | null
  /** Whole coins; null if unknown */
  total_supply: number | null
  /** Whole coins; null if unlimited or unknown */
  max_supply: number | null
  /** All-time high */
  ath: number | null
  /** All-time low */
  atl: number | null
  last_updated: Timestamp
  /** Currency of the prices */
  currency: 'usd' | 'eur' | 'gbp' | 'chf' | 'jpy' | 'aed' | 'ars' | 'aud' | 'bdt' | 'bhd' | 'bmd' | 'brl' | 'cad' | 'clp' | 'cny' | 'czk' | 'dkk' | 'gel' | 'hkd' | 'huf' | 'idr' | 'ils' | 'inr' | 'krw' | 'kwd' | 'lkr' | 'mmk' | 'mxn' | 'myr' | 'ngn' | 'nok' | 'nzd' | 'php' | 'pkr' | 'pln' | 'rub' | 'sar' | 'sek' | 'sgd' | 'thb' | 'try' | 'twd' | 'uah' | 'vef' | 'vnd' | 'zar' | 'xdr' | 'xag' | 'xau' | 'bits' | 'sats' | 'btc' | 'eth' | 'ltc' | 'bch' | 'bnb' | 'eos' | 'xrp' | 'xlm' | 'link' | 'dot' | 'yfi'
  /** Contracts of the coin by CoinGecko platform, if it is a supported token */
  platforms: Record<string, string>
}

export type GetDepositStatusResponse = {
  vaultAddress: Address
  userAddress: Address
  chainId: ChainId
  /** Usual wait for a settlement; null below five known settlements, or without settlements */
  estimatedSettlement: EstimatedSettlement | null
  /** Final settlements that included the pending request and did not settle it, up to 100; null without one, or if the vault does not report settlements */
  missedSettlements: number | null
  /** Milliseconds until the next poll; null if no settlement is awaited */
  nextPollAfterMs: number | null
  /** Per chain read: the block that the response is based on, and the number of hosts */
  evidence: Evidence[]
  /** Next step: wait (pending), claim (claimable), cancel again (cancelled), nothing (others) */
  status: 'pending' | 'claimable' | 'cancelled' | 'deposited' | 'no_active_deposit'
  /** Status as text for users */
  statusDescription: string
  /** Amounts, in the smallest units of asset and share */
  amounts: {
    /** Assets waiting for settlement */
    pendingDeposit: Amount
    /** Shares ready to claim */
    claimableShares: Amount
    /** Shares in the user's wallet */
    currentShares: Amount
    /** Assets of cancelled deposit requests, which another cancellation returns */
    cancelledDeposit: Amount
  }
  /** Vault state; a field is null if the vault does not report it */
  vault: {
    /** Epoch that takes new requests */
    depositEpochId: number | null
    /** True if the valuation is valid: deposits then give shares instantly */
    isTotalAssetsValid: boolean | null
  }
}

export type GetHealthResponse = {
  status: 'ok'
  /** Version of the service */
  version: string
}

export type GetPositionResponse = {
  vaultAddress: Address
  /** Display name */
  vaultName: string
  userAddress: Address
  chainId: ChainId
  /** Percent a year, two decimals; "0.00" if unknown (`annualYield` is then null) */
  apy: string
  /** Growth a year, as of the vaults; null if unknown */
  annualYield: {
    /** Percent, two decimals */
    percent: string
    /** Days between the two prices, two decimals */
    days: number
    /** Time of the earlier price */
    from: Timestamp
    /** Time of the later price */
    to: Timestamp
  } | null
  /** Symbol of the vault's asset */
  assetSymbol: string
  /** Decimals of the vault's asset */
  assetDecimals: number
  /** Decimals of the share token */
  shareDecimals: number
  /** Value of one whole share, in the asset's smallest unit */
  sharePrice: Amount
  /** Deposits not cancelled, plus shares received at their value then; in the asset's smallest unit */
  totalDepositedAssets: Amount
  /** Assets withdrawn, plus shares sent at their value then; in the asset's smallest unit */
  totalWithdrawnAssets: Amount
  /** Shares in the wallet, in the share's smallest unit */
  currentShares: Amount
  /** Value of everything the user has in the vault, in the asset's smallest unit. Includes pending, claimable and redeemed amounts, and cancelled ones not returned yet */
  currentValue: Amount
  /** currentValue + totalWithdrawnAssets - totalDepositedAssets, in the asset's smallest unit; can be negative */
  earnedAssets: string
  /** Number of deposits not cancelled */
  depositCount: number
  startDate: Timestamp
  lastDepositDate: Timestamp
  /** Number of deposits by status */
  statusBreakdown: {
    /** Deposits waiting for settlement */
    pending: number
    /** Deposits ready to claim */
    claimable: number
    /** Completed deposits */
    completed: number
  }
  /** Amounts, in the smallest units of asset and share */
  amounts: {
    /** Assets waiting for settlement */
    pendingDeposit: Amount
    /** Shares ready to claim */
    claimableShares: Amount
    /** Shares in the wallet */
    currentShares: Amount
    /** Shares waiting for settlement */
    pendingRedeemShares: Amount
    /** Assets ready to claim */
    claimableRedeemAssets: Amount
    /** Assets of cancelled deposit requests, which another cancellation returns */
    cancelledDeposit: Amount
    /** Shares of cancelled redemption requests, which another cancellation returns */
    cancelledRedeemShares: Amount
  }
  /** Current state of the vault */
  vault: {
    /** Internal vault identifier */
    poolId: string
    /** Display name */
    name: string
    /** async: shares come after a settlement */
    type: 'async' | 'sync'
    /** Protocol, as in the list of vaults */
    protocol: string
    /** Percent a year, two decimals; "0.00" if unknown (`annualYield` is then null) */
    apy: string
    /** Growth a year, as of the vaults; null if unknown */
    annualYield: {
      /** Percent, two decimals */
      percent: string
      /** Days between the two prices, two decimals */
      days: number
      /** Time of the earlier price */
      from: Timestamp
      /** Time of the later price */
      to: Timestamp
    } | null
    /** Symbol of the vault's asset */
    assetSymbol: string
    /** Decimals of the vault's asset */
    assetDecimals: number
    /** Decimals of the share token */
    shareDecimals: number
    /** Value of one whole share, in the asset's smallest unit */
    sharePrice: Amount
    /** Epoch that takes new requests; null if the vault does not report it */
    depositEpochId: number | null
    /** True if the valuation is valid; null if the vault does not report it */
    isTotalAssetsValid: boolean | null
  }
  /** Minimum that campaigns of the vault have paid, as Merkl attributes it; not part of earnedAssets. Null if `GET …/rewards` has not read the user's rewards within a day */
  rewards: {
    token: Address
    /** Paid, in the token's smallest unit */
    claimed: Amount
  }[] | null
  /** Latest 20 deposits */
  deposits: Deposit[]
  /** True if there are more deposits */
  hasMore: boolean
  /** First share price of each day (UTC) of the last year, and the price now */
  sharePriceHistory: {
    timestamp: Timestamp
    /** Value of one whole share, in the asset's smallest unit */
    sharePrice: Amount
  }[]
  /** Per chain read: the block that the response is based on, and the number of hosts */
  evidence: Evidence[]
}

export type GetTokenChartResponse = {
  /** Pairs of epoch milliseconds and price, ascending; the last one is now */
  prices: [number, number][]
  /** May be empty */
  market_caps: [number, number][]
  /** May be empty */
  total_volumes: [number, number][]
  /** Currency of the prices */
  currency: 'usd' | 'eur' | 'gbp' | 'chf' | 'jpy' | 'aed' | 'ars' | 'aud' | 'bdt' | 'bhd' | 'bmd' | 'brl' | 'cad' | 'clp' | 'cny' | 'czk' | 'dkk' | 'gel' | 'hkd' | 'huf' | 'idr' | 'ils' | 'inr' | 'krw' | 'kwd' | 'lkr' | 'mmk' | 'mxn' | 'myr' | 'ngn' | 'nok' | 'nzd' | 'php' | 'pkr' | 'pln' | 'rub' | 'sar' | 'sek' | 'sgd' | 'thb' | 'try' | 'twd' | 'uah' | 'vef' | 'vnd' | 'zar' | 'xdr' | 'xag' | 'xau' | 'bits' | 'sats' | 'btc' | 'eth' | 'ltc' | 'bch' | 'bnb' | 'eos' | 'xrp' | 'xlm' | 'link' | 'dot' | 'yfi'
  /** Number of days in the chart */
  days: string
  /** True if the chart has fewer days than requested */
  truncated: boolean
}

export type GetTransferStatusResponse = TransferStatus & {
  /** Target protocol, if known */
  protocol: string | null
  /** Per chain read: the block that the response is based on, and the number of hosts */
  evidence: Evidence[]
  /** All transfers of the transaction, or the user's; the first is the one above */
  transfers: TransferStatus[]
}

export type GetVaultHistoryResponse = {
  vaultAddress: Address
  /** Chain of the vault */
  chainId: number
  /** Requested range */
  range: '30d' | '90d' | '1y' | 'all'
  /** Empty if no price is recorded; hours and days without a price have no point */
  history: ({
    /** Time of the price */
    at: Timestamp
    /** Value of one whole share, in the asset's smallest unit */
    sharePrice: Amount
    /** Assets under management, in the asset's smallest unit; null if unknown */
    totalAssets: Amount | null
    /** Growth a year, over the seven days before; null if no known price is that old */
    annualYield: {
      /** Percent, two decimals */
      percent: string
      /** Days between the two prices, two decimals */
      days: number
      /** Time of the earlier price */
      from: Timestamp
      /** Time of the later price */
      to: Timestamp
    } | null
  })[]
}

export type GetVaultResponse = {
  /** Internal vault identifier */
  poolId: string
  chainId: ChainId
  /** Display name */
  name: string
  /** May be empty */
  logo_url: string
  /** Risk classification */
  riskProfile: string
  /** Risk rating of the protocol */
  riskProtocol: string
  /** Vault contract */
  poolAddress: Address
  /** Token to deposit */
  depositTokenAddress: Address
  /** Share token */
  yieldTokenAddress: Address
  /** async: shares come after a settlement */
  type: 'async' | 'sync'
  /** True if deposits have an upper limit */
  MaxCap: boolean
  /** Kind of vault */
  protocol: 'lagoon' | 'erc7540' | 'cooldown' | 'erc4626'
  /** Curator multisig; async vaults only, null if the vault has none */
  curatorAddress?: Address | null | undefined
  /** Address that proposes valuations; async vaults only, null if the vault has none */
  valuationManager?: Address | null | undefined
  /** Description for users */
  description: string
  /** Percent a year, two decimals; "0.00" if unknown (`annualYield` is then null) */
  APY: string
  /** Growth a year, over about 7 days; null if no known price is that old */
  annualYield: {
    /** Percent, two decimals */
    percent: string
    /** Days between the two prices, two decimals */
    days: number
    /** Time of the earlier price */
    from: Timestamp
    /** Time of the later price */
    to: Timestamp
  } | null
  /** Growth a year, each over at least this many days; null if no known price is that old */
  annualYields: {
    /** Over about 7 days, as annualYield */
    '7d': {
      /** Percent, two decimals */
      percent: string
      /** Days between the two prices, two decimals */
      days: number
      /** Time of the earlier price */
      from: Timestamp
      /** Time of the later price */
      to: Timestamp
    } | null
    /** Over about 30 days */
    '30d': {
      /** Percent, two decimals */
      percent: string
      /** Days between the two prices, two decimals */
      days: number
      /** Time of the earlier price */
      from: Timestamp
      /** Time of the later price */
      to: Timestamp
    } | null
    /** Over about 90 days */
    '90d': {
      /** Percent, two decimals */
      percent: string
      /** Days between the two prices, two decimals */
      days: number
      /** Time of the earlier price */
      from: Timestamp
      /** Time of the later price */
      to: Timestamp
    } | null
  }
  /** Growth since the first known price, while that is younger than 7 days; null otherwise */
  growth: {
    /** Percent, two decimals */
    percent: string
    /** Days between the two prices, two decimals */
    days: number
    /** Time of the earlier price */
    from: Timestamp
    /** Time of the later price */
    to: Timestamp
  } | null
  /** Tokens that campaigns pay on top of the yield, some minutes old; never part of `APY`. Null if unknown. `GET …/rewards` lists those of a user */
  rewards: ({
    /** Chain that pays it; it can differ from the chain of the vault */
    chainId: number
    /** Token that is paid */
    token: Address
    /** Its symbol, as Merkl reports it */
    symbol: string
    /** Percent a year, as Merkl reports it; null if not measured yet */
    apr: number | null
    /** End of the last live campaign */
    endsAt: Timestamp
  })[] | null
  /** Token to deposit */
  asset: {
    /** Symbol */
    symbol: string
    /** Decimals */
    decimals: number
  }
  /** Decimals of the share token */
  shareDecimals: number
  /** Assets under management at stateAsOf, in the asset's smallest unit; null if unknown */
  totalAssets: Amount | null
  /** totalAssets in US dollars, at a price some minutes old; null if either is unknown, or if reading the price takes over a second */
  totalAssetsUsd: number | null
  terms: VaultTerms
  /** Async vaults only; null if never read */
  vaultState?: VaultState | null | undefined
  /** True if the vault's code changed, or its price moved by over a tenth, since an operator confirmed it. Deposits then return `vault_has_changed` until an operator confirms it again. Checked every minute; null if not checked */
  hasChanged: boolean | null
  /** Time when an operator last confirmed the vault's code and price; null if not checked or not known now */
  pinnedAt: Timestamp | null
  /** Block of the state; null if the vault was never read */
  stateAsOf: StateAsOf | null
  /** Per chain read: the block that the response is based on, and the number of hosts */
  evidence: Evidence[]
}

export type GetWithdrawalStatusResponse = {
  vaultAddress: Address
  userAddress: Address
  chainId: ChainId
  /** Usual wait for a settlement; null below five known settlements, or without settlements */
  estimatedSettlement: EstimatedSettlement | null
  /** Final settlements that included the pending request and did not settle it, up to 100; null without one, or if the vault does not report settlements */
  missedSettlements: number | null
  /** Milliseconds until the next poll; null if no settlement is awaited */
  nextPollAfterMs: number | null
  /** Per chain read: the block that the response is based on, and the number of hosts */
  evidence: Evidence[]
  /** Next step: wait (pending), claim (claimable), cancel again (cancelled), nothing (others) */
  status: 'pending' | 'claimable' | 'cancelled' | 'withdrawn' | 'no_active_withdrawal'
  /** Status as text for users */
  statusDescription: string
  /** End of the cooldown of a pending withdrawal; null without one, or if a settlement decides */
  claimableAt: Timestamp | null
  /** Amounts, in the smallest units of asset and share */
  amounts: {
    /** Assets in a cooldown; null if a settlement decides the assets */
    pendingAssets: Amount | null
    /** Shares waiting for settlement, or behind the assets in a cooldown */
    pendingRedeemShares: Amount
    /** Assets that a claim pays */
    claimableAssets: Amount
    /** Settled shares behind the claimable assets */
    claimableShares: Amount
    /** Shares of cancelled redemption requests, which another cancellation returns */
    cancelledRedeemShares: Amount
  }
  /** Epoch of the user's last request; null without one, or if the vault does not report it */
  epochId: number | null
  /** Vault state; the epoch is null if the vault does not report it */
  vault: {
    /** Epoch that takes new requests */
    redeemEpochId: number | null
  }
}

export type LinkWalletRequest = {
  /** Message of POST /auth/wallets/init, unchanged */
  message: string
  /** Signature: hexadecimal for EVM, base58 for Solana */
  signature: string
}

export type ListBalancesResponse = {
  /** Wallets of the user, each once per chain */
  addresses: {
    /** Address with EIP-55 checksum, or base58 on Solana */
    address: string
    chain: ChainKey
  }[]
  /** Time of the entries by chain key */
  updated_at: Record<string, Timestamp>
  /** Reasons why entries are old, incomplete or missing, by chain key */
  errors?: Record<string, string> | undefined
  /** Balances by chain key: the chain's coin for each linked wallet's chain, and every token held */
  tokens: Record<string, Balance[]>
  /** Parts for which the service has no source, by chain key; listed tokens are always there */
  missing?: Record<string, 'unlisted_tokens'[]> | undefined
  /** The user's identity check */
  kyc: {
    /** Status of the identity check */
    status: 'none' | 'pending' | 'approved' | 'rejected' | 'expired'
  }
  /** Remaining allowance for network fees that the service pays, in the currency */
  smartgaz: number
  /** True if the exchange rate is known; without it smartgaz is 0 */
  smartgaz_available: boolean
  /** SOL that must stay in a Solana account */
  solana_rent: number
}

export type ListCoinsResponse = ({
  /** Token address; the chain's own coin has 0xEeee…EEeE, on Solana So11…1112 */
  contract_address: string
  /** Chain id; Solana has 1151111081099710 */
  chainId: number
  /** Symbol */
  contract_ticker_symbol: string
  /** Decimals of the token */
  contract_decimals: number
  /** Name */
  contract_name: string
  /** The same for a coin on all chains; may be empty */
  coinKey: string
  /** May be empty */
  logo_url: string
  /** CoinGecko id for GET /portfolio-indexor/markets/coins/{id}; null if unknown */
  id: string | null
  /** Price; null if unknown */
  current_price: number | null
  /** Market cap of the coin on all chains; null if unknown */
  market_cap: number | null
  /** Volume of the last 24 hours; null if unknown */
  total_volume: number | null
  /** Change in 24 hours, in percent; null if unknown */
  price_change_percentage_24h: number | null
})[]

export type ListCredentialsResponse = {
  credentials: Credential[]
}

export type ListDepositsResponse = {
  userAddress: Address
  /** Number of matching entries on all pages */
  totalRecords: number
  /** True if there is another page */
  hasMore: boolean
  /** Cursor of the next page; null on the last one */
  nextCursor: string | null
  /** Reasons why the list omits vaults, all or some of a chain, by chain id */
  errors?: Record<string, string> | undefined
  /** Per chain read: the block that the response is based on, and the number of hosts */
  evidence: Evidence[]
  deposits: Deposit[]
}

export type ListEventsResponse = {
  /** Events in order of `sequence`. Empty: no more events for now. Fewer than `limit`: there can still be more */
  events: WebhookEvent[]
}

export type ListGainersAndLosersResponse = {
  /** No more than 30, largest gain first */
  top_gainers: ({
    /** CoinGecko id */
    id: string
    /** Symbol */
    symbol: string
    /** Name */
    name: string
    /** May be empty */
    image: string
    /** Rank, 1 for the largest; null if unknown */
    market_cap_rank: number | null
    /** Price, as in `<currency>` */
    current_price: number
    /** Change, as in `<currency>_24h_change` */
    price_change_percentage_24h: number
    [name: string]: unknown
  })[]
  /** No more than 30, largest loss first */
  top_losers: ({
    /** CoinGecko id */
    id: string
    /** Symbol */
    symbol: string
    /** Name */
    name: string
    /** May be empty */
    image: string
    /** Rank, 1 for the largest; null if unknown */
    market_cap_rank: number | null
    /** Price, as in `<currency>` */
    current_price: number
    /** Change, as in `<currency>_24h_change` */
    price_change_percentage_24h: number
    [name: string]: unknown
  })[]
}

export type ListNFTsResponse = {
  /** Wallets of the user, each once per chain */
  addresses: {
    /** Address with EIP-55 checksum, or base58 on Solana */
    address: string
    chain: ChainKey
  }[]
  /** Time of the entries by chain key */
  updated_at: Record<string, Timestamp>
  /** Reasons why entries are old, incomplete or missing, by chain key */
  errors?: Record<string, string> | undefined
  /** NFTs by chain key */
  nfts: Record<string, NftCollection[]>
}

export type ListPositionsResponse = {
  userAddress: Address
  /** Number of positions */
  totalRecords: number
  positions: Position[]
  /** Reasons why the list omits vaults, all or some of a chain, by chain id */
  errors?: Record<string, string> | undefined
  /** Per chain read: the block that the response is based on, and the number of hosts */
  evidence: Evidence[]
}

export type ListRewardsResponse = {
  userAddress: Address
  /** Without tokens that look like spam */
  rewards: Reward[]
  /** Reasons why rewards are missing, all or some of a chain, by chain id */
  errors?: Record<string, string> | undefined
  /** Per chain read: the block that the response is based on, and the number of hosts */
  evidence: Evidence[]
}

export type ListSessionsResponse = {
  /** No more than 20; another login ends the oldest */
  sessions: ({
    /** Session id, for DELETE /auth/sessions/{id} */
    id: string
    /** Platform of the login; null if the login did not name it */
    platform: 'web' | 'ios' | 'android' | null
    createdAt: Timestamp
    expiresAt: Timestamp
    /** True for the session of this request */
    isCurrent: boolean
  })[]
}

export type ListVaultsResponse = {
  success: true
  data: Vault[]
  /** Number of matching entries on all pages */
  totalRecords: number
  /** True if there is another page */
  hasMore: boolean
  /** Cursor of the next page; null on the last one */
  nextCursor: string | null
  /** Per chain read: the block that the response is based on, and the number of hosts */
  evidence: Evidence[]
}

export type ListWalletsResponse = {
  wallets: Wallet[]
}

export type ListWebhooksResponse = {
  /** Oldest first, at most ten */
  webhooks: Webhook[]
}

export type ListWithdrawalsResponse = {
  userAddress: Address
  /** Number of matching entries on all pages */
  totalRecords: number
  /** True if there is another page */
  hasMore: boolean
  /** Cursor of the next page; null on the last one */
  nextCursor: string | null
  /** Reasons why the list omits vaults, all or some of a chain, by chain id */
  errors?: Record<string, string> | undefined
  /** Per chain read: the block that the response is based on, and the number of hosts */
  evidence: Evidence[]
  withdrawals: Withdrawal[]
}

/** A new credential to log in with */
export type NewFirstFactor = {
  credentialKind: 'Fido2'
  /** Data from the authenticator */
  credentialInfo: {
    /** base64url of at most 1023 bytes */
    credId: string
    /** Signed client data, in base64url */
    clientData: string
    /** Attestation by the authenticator or the key, in base64url */
    attestationData: string
    /** Ignored; some clients send it */
    transports?: string[] | null | undefined
  }
  /** Name that the user chooses; null in the list unless given */
  credentialName?: string | null | undefined
} | {
  credentialKind: 'Key'
  /** Public key, with a signature that proves possession */
  credentialInfo: {
    /** base64url of 32 bytes */
    credId: string
    /** Signed client data, in base64url */
    clientData: string
    /** Attestation by the authenticator or the key, in base64url */
    attestationData: string
  }
  /** Name that the user chooses; null in the list unless given */
  credentialName?: string | null | undefined
} | {
  credentialKind: 'Password'
  /** Password as typed */
  credentialInfo: {
    /** 8 to 256 characters */
    password: string
  }
  /** Name that the user chooses; null in the list unless given */
  credentialName?: string | null | undefined
} | {
  credentialKind: 'PasswordProtectedKey'
  /** Public key, with a signature that proves possession */
  credentialInfo: {
    /** base64url of 32 bytes */
    credId: string
    /** Signed client data, in base64url */
    clientData: string
    /** Attestation by the authenticator or the key, in base64url */
    attestationData: string
  }
  /** Encrypted private key; stored unchanged, unreadable to the service */
  encryptedPrivateKey: string
  /** Name that the user chooses; null in the list unless given */
  credentialName?: string | null | undefined
}

/** A new recovery key, for a user who has lost all other credentials */
export type NewRecoveryKey = {
  credentialKind: 'RecoveryKey'
  /** Public key, with a signature that proves possession */
  credentialInfo: {
    /** base64url of 32 bytes */
    credId: string
    /** Signed client data, in base64url */
    clientData: string
    /** Attestation by the authenticator or the key, in base64url */
    attestationData: string
  }
  /** Encrypted private key; stored unchanged, unreadable to the service */
  encryptedPrivateKey?: string | null | undefined
  /** Name that the user chooses; null in the list unless given */
  credentialName?: string | null | undefined
}

/** A new second factor */
export type NewSecondFactor = {
  credentialKind: 'Fido2'
  /** Data from the authenticator */
  credentialInfo: {
    /** base64url of at most 1023 bytes */
    credId: string
    /** Signed client data, in base64url */
    clientData: string
    /** Attestation by the authenticator or the key, in base64url */
    attestationData: string
    /** Ignored; some clients send it */
    transports?: string[] | null | undefined
  }
  /** Name that the user chooses; null in the list unless given */
  credentialName?: string | null | undefined
} | {
  credentialKind: 'Key'
  /** Public key, with a signature that proves possession */
  credentialInfo: {
    /** base64url of 32 bytes */
    credId: string
    /** Signed client data, in base64url */
    clientData: string
    /** Attestation by the authenticator or the key, in base64url */
    attestationData: string
  }
  /** Name that the user chooses; null in the list unless given */
  credentialName?: string | null | undefined
} | {
  credentialKind: 'Totp'
  /** A code of the otpUrl; proves that the authenticator has the secret */
  credentialInfo: {
    /** Current six-digit code of the authenticator */
    otpCode: string
  }
  /** Name that the user chooses; null in the list unless given */
  credentialName?: string | null | undefined
} | {
  credentialKind: 'PasswordProtectedKey'
  /** Public key, with a signature that proves possession */
  credentialInfo: {
    /** base64url of 32 bytes */
    credId: string
    /** Signed client data, in base64url */
    clientData: string
    /** Attestation by the authenticator or the key, in base64url */
    attestationData: string
  }
  /** Encrypted private key; stored unchanged, unreadable to the service */
  encryptedPrivateKey: string
  /** Name that the user chooses; null in the list unless given */
  credentialName?: string | null | undefined
}

/** A user's NFTs of one collection; null means unknown */
export type NftCollection = {
  /** Address of the collection, else of the asset; EIP-55 checksum, or base58 on Solana */
  contract_address: string
  /** Name from the collection; may be empty */
  contract_name: string
  /** Symbol from the collection; may be empty */
  contract_ticker_symbol: string
  /** erc721, erc1155; metaplex on Solana */
  supports_erc: string[]
  /** Chain key */
  chainName: string
  /** True if it looks like spam */
  is_spam: boolean
  /** Number of NFTs; nft_data can list fewer */
  balance: Amount
  type: 'nft'
  /** Time of the last transfer in or out */
  last_transfered_at: string | null
  /** Floor price in US dollars */
  floor_price_quote: number | null
  /** Floor price in the chain's coin */
  floor_price_native_quote: number | null
  /** NFTs with details */
  nft_data: ({
    /** The token's number, or the asset's address on Solana */
    token_id: string
    /** URL of its metadata */
    token_url: string | null
    /** First owner */
    original_owner: string | null
    /** Wallet that holds it */
    current_owner: string
    /** Metadata from its maker */
    external_data: {
      /** Name given by its maker */
      name: string | null
      /** Description by its maker */
      description: string | null
      /** Picture */
      image: string | null
      /** Picture, 256 pixels wide */
      image_256: string | null
      /** Picture, 512 pixels wide */
      image_512: string | null
      /** Picture, 1024 pixels wide */
      image_1024: string | null
      /** Video, sound or page */
      animation_url: string | null
      /** Web page of the NFT */
      external_url: string | null
      /** Traits */
      attributes: {
        /** Name of the trait */
        trait_type: string
        /** Value of the trait */
        value: string
      }[]
    } | null
  })[]
}

/** A user's deposits, withdrawals, holdings and earnings in a vault */
export type Position = {
  vaultAddress: Address
  /** Display name */
  vaultName: string
  userAddress: Address
  chainId: ChainId
  /** Percent a year, two decimals; "0.00" if unknown (`annualYield` is then null) */
  apy: string
  /** Growth a year, as of the vaults; null if unknown */
  annualYield: {
    /** Percent, two decimals */
    percent: string
    /** Days between the two prices, two decimals */
    days: number
    /** Time of the earlier price */
    from: Timestamp
    /** Time of the later price */
    to: Timestamp
  } | null
  /** Symbol of the vault's asset */
  assetSymbol: string
  /** Decimals of the vault's asset */
  assetDecimals: number
  /** Decimals of the share token */
  shareDecimals: number
  /** Value of one whole share, in the asset's smallest unit */
  sharePrice: Amount
  /** Deposits not cancelled, plus shares received at their value then; in the asset's smallest unit */
  totalDepositedAssets: Amount
  /** Assets withdrawn, plus shares sent at their value then; in the asset's smallest unit */
  totalWithdrawnAssets: Amount
  /** Shares in the wallet, in the share's smallest unit */
  currentShares: Amount
  /** Value of everything the user has in the vault, in the asset's smallest unit. Includes pending, claimable and redeemed amounts, and cancelled ones not returned yet */
  currentValue: Amount
  /** currentValue + totalWithdrawnAssets - totalDepositedAssets, in the asset's smallest unit; can be negative */
  earnedAssets: string
  /** Number of deposits not cancelled */
  depositCount: number
  startDate: Timestamp
  lastDepositDate: Timestamp
  /** Number of deposits by status */
  statusBreakdown: {
    /** Deposits waiting for settlement */
    pending: number
    /** Deposits ready to claim */
    claimable: number
    /** Completed deposits */
    completed: number
  }
}

export type PrepareCancellationRequest = {
  /** Vault contract */
  vaultAddress: Address
  /** The user's wallet */
  userAddress: Address
  /** Kind of request */
  kind?: 'deposit' | 'withdrawal' | null | undefined
  /** Chain of the vault; required if two chains have a vault with this address */
  chainId?: ChainId | null | undefined
}

export type PrepareCancellationResponse = {
  /** Always empty */
  approval: Transaction[]
  /** Send these in order, once the approvals are confirmed. Between chains the last one is the transfer: use its hash for the status */
  operations: Transaction[]
  /** All transactions in order, as the parameter of `wallet_sendCalls` (EIP-5792) */
  calls: WalletCalls
  /** `lagoon` or `erc7540` or `cooldown` or `erc4626` */
  protocol: string
  /** Chain of the vault */
  chainId: ChainId
  /** Gas units of all transactions together */
  estimatedGas: Amount
  /** Always false: requests stay on the vault's chain */
  isCrossChain: false
  simulation: Simulation
  /** Per chain read: the block that the response is based on, and the number of hosts */
  evidence: Evidence[]
  /** True if a second cancellation must collect the returned tokens later */
  isAsync: boolean
  /** Returned amount: a deposit's assets or a withdrawal's shares */
  cancelled: {
    assets: Amount
  } | {
    shares: Amount
  }
}

export type PrepareClaimRequest = {
  /** Vault contract */
  vaultAddress: Address
  /** The user's wallet */
  userAddress: Address
  /** Kind of request */
  kind?: 'deposit' | 'withdrawal' | null | undefined
  /** Chain of the vault; required if two chains have a vault with this address */
  chainId?: ChainId | null | undefined
  /** Other chain for a withdrawal's assets; they go to the user's own address there */
  dstChainId?: number | null | undefined
  /** Required with dstChainId: the same asset there. Compare `coinKey` in `GET /portfolio-indexor/markets` (USDC.e is not USDC; on BNB Smart Chain WETH is ETH). If it is the chain's wrapped coin, a plain account receives the coin itself */
  dstToken?: Address | null | undefined
}

export type PrepareClaimResponse = {
  /** Send these first */
  approval: Transaction[]
  /** Send these in order, once the approvals are confirmed. Between chains the last one is the transfer: use its hash for the status */
  operations: Transaction[]
  /** All transactions in order, as the parameter of `wallet_sendCalls` (EIP-5792) */
  calls: WalletCalls
  /** `lagoon` or `erc7540` or `cooldown` or `erc4626` */
  protocol: string
  /** Chain of the vault */
  chainId: ChainId
  /** Gas units of all transactions together */
  estimatedGas: Amount
  /** True if the last transaction is a transfer to another chain */
  isCrossChain: boolean
  simulation: Simulation
  /** Per chain read: the block that the response is based on, and the number of hosts */
  evidence: Evidence[]
  isAsync: true
  /** Claimed amounts: assets of a deposit that become shares, or shares of a withdrawal that become assets */
  claimable: {
    /** Assets, in the asset's smallest unit */
    assets: Amount
    /** Shares, in the share's smallest unit; null for a withdrawal after a cooldown, whose shares are already burned */
    shares: Amount | null
    /** Cross-chain only: assets that stay on the vault's chain, in their smallest unit */
    remainder?: Amount | undefined
  }
  /** Cross-chain only */
  quote?: BridgeQuote | undefined
}

export type PrepareDepositRequest = {
  /** Vault contract */
  vaultAddress: Address
  /** Amount above zero, in the deposit token's smallest unit */
  amount: Amount
  /** The user's wallet */
  userAddress: Address
  /** Source chain; only for deposits from another chain */
  srcChainId?: number | null | undefined
  /** Required with srcChainId: the same asset there. Compare `coinKey` in `GET /portfolio-indexor/markets` (USDC.e is not USDC; on BNB Smart Chain WETH is ETH). For WETH also the coin itself, on chains whose coin is ETH: `0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE`. Then `value` is the amount, there is no approval, and a refund is in WETH */
  srcToken?: Address | null | undefined
  /** Chain of the vault; required if two chains have a vault with this address */
  chainId?: ChainId | null | undefined
}

export type PrepareDepositResponse = {
  /** Send these first */
  approval: Transaction[]
  /** Send these in order, once the approvals are confirmed. Between chains the last one is the transfer: use its hash for the status */
  operations: Transaction[]
  /** All transactions in order, as the parameter of `wallet_sendCalls` (EIP-5792) */
  calls: WalletCalls
  /** `lagoon` or `erc7540` or `cooldown` or `erc4626` */
  protocol: string
  /** Chain of the vault */
  chainId: ChainId
  /** Gas units of all transactions together */
  estimatedGas: Amount
  /** True if the last transaction is a transfer to another chain */
  isCrossChain: boolean
  simulation: Simulation
  /** Per chain read: the block that the response is based on, and the number of hosts */
  evidence: Evidence[]
  /** True if deposits need a settlement before shares are available */
  isAsync: boolean
  /** Result of the deposit */
  deposit: {
    /** Shares that the user gets, in the share's smallest unit; null if the vault has no price now */
    shares: Amount | null
    /** Assets that the vault takes, in the asset's smallest unit */
    assets: Amount
    /** Entry fee, in the asset's smallest unit; null like `shares` */
    fee: Amount | null
    /** True if the figures can change: a settlement sets the price later, no dry run was possible, the money comes from another chain, or two nodes differ slightly */
    isEstimate: boolean
  }
  terms: VaultTerms
  /** Cross-chain only */
  quote?: BridgeQuote | undefined
}

export type PrepareRewardsClaimRequest = {
  /** The user's wallet */
  userAddress: Address
  /** Chain of the rewards */
  chainId: ChainId
  /** Tokens to claim, from `GET …/rewards`; all if left out */
  tokens?: Address[] | null | undefined
}

export type PrepareRewardsClaimResponse = {
  /** Send these first */
  approval: Transaction[]
  /** Send these in order, once the approvals are confirmed. Between chains the last one is the transfer: use its hash for the status */
  operations: Transaction[]
  /** All transactions in order, as the parameter of `wallet_sendCalls` (EIP-5792) */
  calls: WalletCalls
  protocol: 'merkl'
  /** Chain of the rewards */
  chainId: ChainId
  /** Gas units of all transactions together */
  estimatedGas: Amount
  /** True if the last transaction is a transfer to another chain */
  isCrossChain: boolean
  simulation: Simulation
  /** Per chain read: the block that the response is based on, and the number of hosts */
  evidence: Evidence[]
  /** Rewards that the transaction claims */
  rewards: {
    token: Address
    /** Amount that it pays, in the token's smallest unit */
    amount: Amount
  }[]
  /** Rewards that it does not claim */
  leftOut: ({
    token: Address
    /** `not_yet_claimable`: not in the tree that pays now. `paid_to_another_account`: the user has set another recipient at the contract. `reverts`, `does_not_transfer`: the token failed in the dry run. `claim_again`: it has room in the next claim. `not_found`: the list of rewards does not have it */
    reason: 'not_yet_claimable' | 'paid_to_another_account' | 'reverts' | 'does_not_transfer' | 'claim_again' | 'not_found'
    /** Time from which it can be claimed; null if unknown */
    claimableAt: Timestamp | null
  })[]
}

export type PrepareWithdrawalRequest = {
  /** Vault contract */
  vaultAddress: Address
  /** The user's wallet */
  userAddress: Address
  /** Assets to receive, in the asset's smallest unit; use one of `amount`, `shares`, `max` */
  amount?: Amount | null | undefined
  /** Shares to redeem, in their smallest unit; use one of `amount`, `shares`, `max` */
  shares?: Amount | null | undefined
  /** Everything the user has; use one of `amount`, `shares`, `max` */
  max?: true | null | undefined
  /** Chain of the vault; required if two chains have a vault with this address */
  chainId?: ChainId | null | undefined
  /** Other chain for the assets, at the user's own address; only for vaults that pay instantly */
  dstChainId?: number | null | undefined
  /** Required with dstChainId: the same asset there. Compare `coinKey` in `GET /portfolio-indexor/markets` (USDC.e is not USDC; on BNB Smart Chain WETH is ETH). If it is the chain's wrapped coin, a plain account receives the coin itself */
  dstToken?: Address | null | undefined
}

export type PrepareWithdrawalResponse = {
  /** Send these first */
  approval: Transaction[]
  /** Send these in order, once the approvals are confirmed. Between chains the last one is the transfer: use its hash for the status */
  operations: Transaction[]
  /** All transactions in order, as the parameter of `wallet_sendCalls` (EIP-5792) */
  calls: WalletCalls
  /** `lagoon` or `erc7540` or `cooldown` or `erc4626` */
  protocol: string
  /** Chain of the vault */
  chainId: ChainId
  /** Gas units of all transactions together */
  estimatedGas: Amount
  /** True if the last transaction is a transfer to another chain */
  isCrossChain: boolean
  simulation: Simulation
  /** Per chain read: the block that the response is based on, and the number of hosts */
  evidence: Evidence[]
  /** True if the vault pays only after a settlement or a cooldown */
  isAsync: boolean
  /** Result of the withdrawal */
  withdrawal: {
    /** Shares redeemed, in the share's smallest unit */
    shares: Amount
    /** Assets paid, in the asset's smallest unit; null if the vault has no price now */
    assets: Amount | null
    /** Fees and the haircut for instant payment, in the asset's smallest unit; null like `assets` */
    fee: Amount | null
    /** Haircut part of the fee, in the asset's smallest unit */
    haircut: Amount
    /** True if the figures can change: a settlement sets the price later, no dry run was possible, or two nodes differ slightly */
    isEstimate: boolean
    /** Assets of earlier, settled withdrawals, paid along with this one; in the asset's smallest unit */
    claimedAssets: Amount
    /** Earlier withdrawal whose cooldown this one restarts; null without one */
    prolongs: {
      /** Assets that are already waiting, in the asset's smallest unit */
      assets: Amount
      /** Time when they could be claimed without this withdrawal */
      claimableAt: Timestamp
    } | null
    /** Cross-chain only: paid assets that stay on the vault's chain, in the asset's smallest unit */
    remainder?: Amount | undefined
  }
  /** Cross-chain only */
  quote?: BridgeQuote | undefined
}

/** The recovery key's signature over the new credentials */
export type Recovery = {
  kind: 'RecoveryKey'
  /** Signature over the new credentials */
  credentialAssertion: {
    /** base64url of at most 1023 bytes */
    credId: string
    /** Signed client data, in base64url */
    clientData: string
    /** Signature of the client data, in base64url */
    signature: string
    /** Signature algorithm, if not the key's default: SHA256, SHA512 or RSA-SHA256 */
    algorithm?: string | null | undefined
  }
}

export type RegisterWebhookRequest = {
  /** An https URL on port 443, at most 2,048 characters long */
  url: string
  /** Event types that the service sends. Left out: all, including future types */
  types?: ('deposit.pending' | 'deposit.claimable' | 'deposit.completed' | 'deposit.cancelled' | 'deposit.reverted' | 'withdrawal.pending' | 'withdrawal.claimable' | 'withdrawal.completed' | 'withdrawal.cancelled' | 'withdrawal.reverted' | 'transfer.completed' | 'transfer.failed' | 'transfer.refunded' | 'transfer.reverted' | 'vault.paused' | 'vault.resumed' | 'vault.changed' | 'vault.reverted' | 'reward.claimable' | 'reward.claimed')[] | null | undefined
  /** final: sends an event once its block is final. latest: also sends it before, with `final: false`, and a `….reverted` event if a reorganisation removes it */
  finality?: 'final' | 'latest' | null | undefined
}

/** The registered webhook with its secret */
export type RegisteredWebhook = {
  /** Webhook id; the same URL always has the same one */
  id: string
  /** URL that receives the events */
  url: string
  /** Event types that the service sends; null for all, including future types */
  types: ('deposit.pending' | 'deposit.claimable' | 'deposit.completed' | 'deposit.cancelled' | 'deposit.reverted' | 'withdrawal.pending' | 'withdrawal.claimable' | 'withdrawal.completed' | 'withdrawal.cancelled' | 'withdrawal.reverted' | 'transfer.completed' | 'transfer.failed' | 'transfer.refunded' | 'transfer.reverted' | 'vault.paused' | 'vault.resumed' | 'vault.changed' | 'vault.reverted' | 'reward.claimable' | 'reward.claimed')[] | null
  /** final: sends events once they are final. latest: also before */
  finality: 'final' | 'latest'
  createdAt: Timestamp
  /** Signing key of the deliveries, as in Standard Webhooks: `whsec_` and base64. Shown once: store it */
  secret: string
}

/** Relying party of the passkeys */
export type RelyingPartyEntity = {
  /** Domain */
  id: string
  /** Name shown to users */
  name: string
}

export type RequestedDepositData = {
  /** Chain of the vault */
  chainId: ChainId
  /** Vault contract */
  vaultAddress: Address
  /** Account that owns the deposit or withdrawal */
  userAddress: Address
  /** Transaction that caused the event; null if the vault emits no event for a settlement and the service read it from the vault */
  transactionHash: TransactionHash | null
  /** Block of that transaction, or the block at which the service read the vault */
  blockNumber: number
  /** `depositId` of the deposit in `GET …/deposits`; null if unknown */
  depositId: string | null
  /** The whole deposit at block `version`; null if it could not be read */
  entry: DepositEntry | null
  /** Block whose state `entry` shows: the last final block, or the latest block with `final: false`. A state of the same id with a higher version is newer; with equal versions, the higher `sequence` is newer */
  version: number
  /** Assets of this event, in the asset's smallest unit; null if unknown */
  assets: Amount | null
  /** Shares of this event, in the share's smallest unit; null if unknown */
  shares: Amount | null
  /** Time that requests waited in the vault's last settlements; null with fewer than five */
  estimatedSettlement: EstimatedSettlement | null
}

export type RequestedWithdrawalData = {
  /** Chain of the vault */
  chainId: ChainId
  /** Vault contract */
  vaultAddress: Address
  /** Account that owns the deposit or withdrawal */
  userAddress: Address
  /** Transaction that caused the event; null if the vault emits no event for a settlement and the service read it from the vault */
  transactionHash: TransactionHash | null
  /** Block of that transaction, or the block at which the service read the vault */
  blockNumber: number
  /** `withdrawalId` of the withdrawal in `GET …/withdrawals`; null if unknown */
  withdrawalId: string | null
  /** The whole withdrawal at block `version`; null if it could not be read */
  entry: WithdrawalEntry | null
  /** Block whose state `entry` shows: the last final block, or the latest block with `final: false`. A state of the same id with a higher version is newer; with equal versions, the higher `sequence` is newer */
  version: number
  /** Assets of this event, in the asset's smallest unit; null if unknown */
  assets: Amount | null
  /** Shares of this event, in the share's smallest unit; null if unknown */
  shares: Amount | null
  /** Time that requests waited in the vault's last settlements; null with fewer than five */
  estimatedSettlement: EstimatedSettlement | null
}

export type RevertedData = {
  /** Chain of the vault */
  chainId: ChainId
  /** Vault contract */
  vaultAddress: Address
  /** The `id` of the reverted event */
  eventId: string
}

export type RevertedDepositData = {
  /** Chain of the vault */
  chainId: ChainId
  /** Vault contract */
  vaultAddress: Address
  /** The `id` of the reverted event */
  eventId: string
  /** Account that owns the deposit or withdrawal; null if unknown */
  userAddress: Address | null
  /** `depositId` of the deposit in `GET …/deposits`; null if unknown */
  depositId: string | null
  /** The deposit without the reverted event. Null with a `depositId`: it no longer exists */
  entry: DepositEntry | null
  /** Block whose state `entry` shows: the last final block, or the latest block with `final: false`. A state of the same id with a higher version is newer; with equal versions, the higher `sequence` is newer */
  version: number
}

export type RevertedWithdrawalData = {
  /** Chain of the vault */
  chainId: ChainId
  /** Vault contract */
  vaultAddress: Address
  /** The `id` of the reverted event */
  eventId: string
  /** Account that owns the deposit or withdrawal; null if unknown */
  userAddress: Address | null
  /** `withdrawalId` of the withdrawal in `GET …/withdrawals`; null if unknown */
  withdrawalId: string | null
  /** The withdrawal without the reverted event. Null with a `withdrawalId`: it no longer exists */
  entry: WithdrawalEntry | null
  /** Block whose state `entry` shows: the last final block, or the latest block with `final: false`. A state of the same id with a higher version is newer; with equal versions, the higher `sequence` is newer */
  version: number
}

/** Tokens that campaigns of vaults pay a user */
export type Reward = {
  chainId: ChainId
  /** Token that is paid */
  token: Address
  /** The token's own symbol; null if it has none */
  symbol: string | null
  /** The token's decimals; null if it has none */
  decimals: number | null
  /** Amount that a claim pays now, in the token's smallest unit. Proven: its proof leads to the root on the chain. A token that wraps another pays the other, less its fee */
  amount: Amount
  /** Earned but not claimable yet, in the token's smallest unit, as Merkl reports it */
  pending: Amount
  /** Total paid so far, in the token's smallest unit, read from the chain */
  claimed: Amount
  /** `amount` in US dollars; null if the price is unknown */
  usd: number | null
  /** Time from which a claim also pays the part of `pending` that is in the newest tree; null if nothing waits there, or while that tree is disputed */
  claimableAt: Timestamp | null
  /** Account that the contract pays. `POST …/rewards/claim` claims the reward only if this is the user's own account */
  recipient: Address
}

/** A user can claim a reward that is worth at least a dollar. Sent to you if you listed the user's rewards in the last seven days, and there were some then. The service checks each user once a day, at the newest block. It sends the event once for each amount, and again after 40 days. Followed by `reward.claimed` once the user claims. */
export type RewardClaimableEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'reward.claimable'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: ClaimableRewardData
}

/** A user claimed a reward, through you or elsewhere. Sent once for each token of a claim, to you under the same condition as `reward.claimable`. Nothing follows. */
export type RewardClaimedEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'reward.claimed'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: ClaimedRewardData
}

export type RotateWebhookSecretResponse = {
  /** Webhook id */
  id: string
  /** Signing key of the deliveries, as in Standard Webhooks: `whsec_` and base64. Shown once: store it */
  secret: string
  /** Time until which deliveries also carry the previous secret's signature */
  previousUntil: Timestamp
}

export type SearchCoinsRequest = {
  /** Part of a coin's name or symbol, 3 to 100 characters */
  search: string
}

export type SearchCoinsResponse = ({
  /** CoinGecko id, for GET /portfolio-indexor/markets/coins/{id} */
  id: string
  /** Name */
  name: string
  /** Symbol */
  symbol: string
  /** Symbol */
  api_symbol: string
  /** Rank, 1 for the largest; null if unknown */
  market_cap_rank: number | null
  /** Small picture; may be empty */
  thumb: string
  /** Large picture; may be empty */
  large: string
  /** Price; null if unknown */
  current_price: number | null
  /** Change in 24 hours, in percent; null if unknown */
  price_change_percentage_24h: number | null
})[]

/** A second factor's response to the challenge */
export type SecondFactor = {
  kind: 'Fido2'
  /** Response to the challenge */
  credentialAssertion: {
    /** base64url of at most 1023 bytes */
    credId: string
    /** Signed client data, in base64url */
    clientData: string
    /** Authenticator data, in base64url */
    authenticatorData: string
    /** Signature of the client data, in base64url */
    signature: string
    /** User handle from the authenticator, in base64url */
    userHandle?: string | '' | null | null | undefined
    /** Ignored; some clients send it */
    algorithm?: string | null | undefined
  }
} | {
  /** A client's key, plain or encrypted with a password */
  kind: 'Key' | 'PasswordProtectedKey'
  /** Response to the challenge */
  credentialAssertion: {
    /** base64url of at most 1023 bytes */
    credId: string
    /** Signed client data, in base64url */
    clientData: string
    /** Signature of the client data, in base64url */
    signature: string
    /** Signature algorithm, if not the key's default: SHA256, SHA512 or RSA-SHA256 */
    algorithm?: string | null | undefined
  }
} | {
  kind: 'Totp'
  /** Current six-digit code of the authenticator */
  otpCode: string
}

/** Result of a dry run of the transactions on the latest state */
export type Simulation = {
  status: 'success'
} | {
  /** The chain cannot simulate; estimatedGas is an upper estimate */
  status: 'unavailable'
} | {
  /** The transactions would fail now; estimatedGas is an upper estimate */
  status: 'reverted'
  /** The contract's own error, such as ERC20InsufficientBalance; InsufficientBalance for the chain's coin */
  reason: string
}

export type StartAddingCredentialResponse = {
  /** WebAuthn options for creating new credentials */
  publicKeyCredentialCreationOptions: {
    attestation: 'none'
    /** Requirements for a passkey */
    authenticatorSelection: {
      requireResidentKey: true
      residentKey: 'required'
      userVerification: 'required'
    }
    /** base64url of 32 random bytes */
    challenge: string
    /** Passkeys that the user already has */
    excludeCredentials: CredentialDescriptor[]
    /** Secret of one-time codes, as an otpauth URL */
    otpUrl: string
    /** Accepted signature algorithms, preferred first */
    pubKeyCredParams: {
      type: 'public-key'
      /** COSE number of the algorithm */
      alg: number
    }[]
    rp: RelyingPartyEntity
    /** Kinds of credentials */
    supportedCredentialKinds: {
      /** Use one of these */
      firstFactor: ('Fido2' | 'Key' | 'Password' | 'Totp' | 'RecoveryKey' | 'PasswordProtectedKey')[]
      /** A password also needs one of these */
      secondFactor: ('Fido2' | 'Key' | 'Password' | 'Totp' | 'RecoveryKey' | 'PasswordProtectedKey')[]
    }
    /** Token for sending the new credentials; valid once, within ten minutes */
    temporaryAuthenticationToken: string
    /** User entry under which the authenticator stores a passkey */
    user: {
      /** Name that the authenticator shows beside the passkey */
      displayName: string
      /** base64url of 32 bytes */
      id: string
      /** E-mail address in lower case */
      name: string
    }
  }
  /** Valid once, within ten minutes, for this user */
  temporaryAuthenticationToken: string
  /** Challenge for the user's existing credentials, as for a login */
  confirmation: {
    /** The challenge of the options */
    challenge: string
    rp: RelyingPartyEntity
    userVerification: 'required'
    /** Credentials of the user */
    allowCredentials: {
      /** Passkeys */
      webauthn: CredentialDescriptor[]
      /** Keys */
      key: CredentialDescriptor[]
      /** Keys encrypted with a password */
      passwordProtectedKey: CredentialDescriptor[]
    }
  }
}

export type StartLinkingWalletRequest = {
  /** EVM address (EIP-55 checksum, or all one case) or Solana address in base58 */
  address: string
  /** Kind of chain */
  chain: 'evm' | 'solana'
  /** Chain where a contract account is, or will be, deployed; plain accounts need none */
  chainId?: ChainId | null | undefined
}

export type StartLinkingWalletResponse = {
  /** EIP-4361 text for EVM, a similar text for Solana */
  message: string
  expiresAt: Timestamp
}

export type StartLoginRequest = {
  /** E-mail address of the user; leave it out to log in by passkey */
  email?: string | null | undefined
}

export type StartLoginResponse = {
  /** base64url of 32 random bytes */
  challenge: string
  /** Valid for one try, within ten minutes */
  challengeIdentifier: string
  rp: RelyingPartyEntity
  userVerification: 'required'
  attestation: 'none'
  /** Kinds of credentials; the same for every e-mail address */
  supportedCredentialKinds: ({
    /** Kind of credential */
    kind: 'Fido2' | 'Key' | 'PasswordProtectedKey' | 'Password' | 'Totp'
    /** Factor that it can be at a login */
    factor: 'first' | 'second' | 'either'
    /** True if it needs a second factor */
    requiresSecondFactor: boolean
  })[]
  /** Keys to choose from, some of them dummies; equally many for every e-mail address */
  allowCredentials: {
    /** Always empty: the client finds passkeys itself */
    webauthn: CredentialDescriptor[]
    /** Keys */
    key: CredentialDescriptor[]
    /** Keys encrypted with a password */
    passwordProtectedKey: CredentialDescriptor[]
  }
}

export type StartRecoveryRequest = {
  /** E-mail address */
  email: string
  /** Id of the recovery key, from the recovery kit: base64url of 32 bytes */
  credentialId?: string | null | undefined
}

export type StartRecoveryResponse = {
  /** WebAuthn options for creating new credentials */
  publicKeyCredentialCreationOptions: {
    attestation: 'none'
    /** Requirements for a passkey */
    authenticatorSelection: {
      requireResidentKey: true
      residentKey: 'required'
      userVerification: 'required'
    }
    /** base64url of 32 random bytes */
    challenge: string
    /** Always empty */
    excludeCredentials: CredentialDescriptor[]
    /** Secret of one-time codes, as an otpauth URL */
    otpUrl: string
    /** Accepted signature algorithms, preferred first */
    pubKeyCredParams: {
      type: 'public-key'
      /** COSE number of the algorithm */
      alg: number
    }[]
    rp: RelyingPartyEntity
    /** Kinds of credentials */
    supportedCredentialKinds: {
      /** Use one of these */
      firstFactor: ('Fido2' | 'Key' | 'Password' | 'Totp' | 'RecoveryKey' | 'PasswordProtectedKey')[]
      /** A password also needs one of these */
      secondFactor: ('Fido2' | 'Key' | 'Password' | 'Totp' | 'RecoveryKey' | 'PasswordProtectedKey')[]
    }
    /** Token for sending the new credentials; valid once, within ten minutes */
    temporaryAuthenticationToken: string
    /** User entry under which the authenticator stores a passkey */
    user: {
      /** Name that the authenticator shows beside the passkey */
      displayName: string
      /** base64url of 32 bytes */
      id: string
      /** E-mail address in lower case */
      name: string
    }
    /** Always one entry, even if the user is unknown */
    allowedRecoveryCredentials: ({
      /** The credentialId of the request, or a dummy if it has none */
      id: string
      /** Encrypted private key of that recovery key, or a dummy; null without a credentialId */
      encryptedRecoveryKey: string | null
    })[]
  }
  /** Valid once, within ten minutes */
  temporaryAuthenticationToken: string
}

export type StartRegistrationRequest = {
  /** E-mail address */
  email: string
}

export type StartRegistrationResponse = {
  /** WebAuthn options for creating new credentials */
  publicKeyCredentialCreationOptions: {
    attestation: 'none'
    /** Requirements for a passkey */
    authenticatorSelection: {
      requireResidentKey: true
      residentKey: 'required'
      userVerification: 'required'
    }
    /** base64url of 32 random bytes */
    challenge: string
    /** Always empty */
    excludeCredentials: {
      /** Never present */
      type: string
      /** Never present */
      id: number
    }[]
    /** Secret of one-time codes, as an otpauth URL */
    otpUrl: string
    /** Accepted signature algorithms, preferred first */
    pubKeyCredParams: {
      type: 'public-key'
      /** COSE number of the algorithm */
      alg: number
    }[]
    rp: RelyingPartyEntity
    /** Kinds of credentials */
    supportedCredentialKinds: {
      /** Use one of these */
      firstFactor: ('Fido2' | 'Key' | 'Password' | 'Totp' | 'RecoveryKey' | 'PasswordProtectedKey')[]
      /** A password also needs one of these */
      secondFactor: ('Fido2' | 'Key' | 'Password' | 'Totp' | 'RecoveryKey' | 'PasswordProtectedKey')[]
    }
    /** Token for sending the new credentials; valid once, within ten minutes */
    temporaryAuthenticationToken: string
    /** User entry under which the authenticator stores a passkey */
    user: {
      /** Name that the authenticator shows beside the passkey */
      displayName: string
      /** base64url of 32 bytes */
      id: string
      /** E-mail address in lower case */
      name: string
    }
  }
  /** Valid once, within ten minutes */
  temporaryAuthenticationToken: string
}

/** Block that the state was read at */
export type StateAsOf = {
  /** Block number */
  blockNumber: number
  /** Block time */
  timestamp: Timestamp
  /** True if the state is old because the chain cannot be read now */
  stale: boolean
}

/** ISO 8601, UTC, with milliseconds */
export type Timestamp = string

/** A transaction to sign */
export type Transaction = {
  /** Chain to send it on */
  chainId: ChainId
  /** Contract to call */
  to: Address
  /** Encoded calldata */
  data: `0x${string}`
  /** Native coin to send, in its smallest unit */
  value: Amount
}

/** Transaction hash */
export type TransactionHash = `0x${string}`

/** A transfer between chains arrived and did what it was for. Sent once for each transfer. The deposit at its end, or the withdrawal at its start, has its own `deposit.…` or `withdrawal.…` events. Nothing follows. */
export type TransferCompletedEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'transfer.completed'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: TransferData
}

export type TransferData = {
  /** Chain of the vault; `srcChain` and `dstChain` are those of the transfer */
  chainId: ChainId
  /** Vault that the transfer is for, or from which the withdrawal was prepared. Other transfers cause no event */
  vaultAddress: Address
  /** Account that receives the shares or that withdrew; null if unknown */
  userAddress: Address | null
  /** Requested hash; in events, the source transaction hash */
  depositId: TransactionHash
  /** pending: not mined yet. bridging: in the bridge; terminal only with destination_not_followed. completed: terminal. failed: terminal; with expired see `terminal` */
  status: 'pending' | 'bridging' | 'completed' | 'failed'
  /** Status as text for users */
  statusDescription: string
  /** Reason why it failed or is no longer followed, else null. source_reverted: the source transaction reverted. no_deposit_in_transaction: no bridge deposit with this index in the transaction. source_dropped: the transaction is no longer valid, and no other one made this deposit. expired: it was not filled in time; usually becomes refunded or refund_not_found. refunded: the bridge refunded it on the source chain. refund_not_found: no certain refund found two weeks after the deadline. destination_action_failed: it arrived, but the vault deposit failed; the tokens went to the fallback account of the transfer. undelivered: it arrived without an instruction, at a public contract from which anyone can take it. destination_not_followed: the status stays bridging because this service does not read the destination chain */
  reason: 'source_reverted' | 'no_deposit_in_transaction' | 'source_dropped' | 'expired' | 'refunded' | 'refund_not_found' | 'destination_action_failed' | 'undelivered' | 'destination_not_followed' | null
  /** Action on the destination: deposit into a vault, or none if the bridge only delivers the funds; null until the bridge deposit is seen */
  action: 'deposit' | 'none' | null
  /** True if nothing more is expected: stop polling */
  terminal: boolean
  /** True if the transfer's blocks are final on both chains, so its status never changes again. Only if terminal, usually some minutes later */
  final: boolean
  /** Milliseconds until the next poll; null if terminal */
  nextPollAfterMs: number | null
  srcChain: ChainName
  /** Destination chain; null until the bridge deposit is seen */
  dstChain: ChainName | null
  /** Amount sent, in the source token's smallest unit */
  inputAmount: Amount | null
  /** Amount that arrived, in the destination token's smallest unit. If the destination deposit failed: the tokens that the user received */
  outputAmount: Amount | null
  /** Time of the send, of the arrival and of the action; null before */
  timestamps: {
    initiated: Timestamp | null
    bridged: Timestamp | null
    completed: Timestamp | null
  }
  /** Source transaction, and the fill on the other chain; null before */
  transactions: {
    source: TransactionHash
    fill: TransactionHash | null
  }
  /** Account that sent it and receives a refund */
  depositor: Address | null
  /** Account that receives the shares or the tokens */
  recipient: Address | null
  /** Token and amount sent */
  input: {
    token: Address
    /** Null for a token that the service does not know */
    symbol: string | null
    /** Null for a token that the service does not know */
    decimals: number | null
    /** Amount sent, in the token's smallest unit */
    amount: Amount
  } | null
  /** Token and amount on the destination */
  output: {
    token: Address
    /** Null for a token that the service does not know */
    symbol: string | null
    /** Null for a token that the service does not know */
    decimals: number | null
    /** Promised amount; delivered amount after the fill, in the token's smallest unit */
    amount: Amount
  } | null
  /** Shares that the vault minted, in the share's smallest unit; null for requests */
  sharesReceived: Amount | null
  /** Expected arrival by the quote; null if unknown or arrived */
  expectedAt: Timestamp | null
  /** Time after which an unfilled transfer is refunded */
  deadline: Timestamp | null
  /** Refund on the source chain; null if none is paid or owed */
  refund: TransferRefund | null
  /** Transaction that made the deposit in place of the requested one */
  replacedBy: TransactionHash | null
  /** Events of both chains that prove the status, in order */
  events: TransferEvent[]
  /** Transactions in block explorers; null before */
  links: {
    /** Source transaction */
    source: string
    /** Fill on the destination chain */
    fill: string | null
    /** Refund on the source chain */
    refund: string | null
  }
}

/** Event of a chain that proves a step of a transfer */
export type TransferEvent = {
  /** deposited: the bridge took the funds on the source chain. slow_fill_requested: the bridge itself will pay, which takes hours. sped_up: the bridge paid by other terms, which the depositor signed later. filled: the bridge paid on the destination chain. delivered: `account` received the tokens. undelivered: the tokens lie at a public contract, because the depositor signed no instruction for them. vault_deposited: the vault took the deposit for `account`. action_failed: the vault deposit failed, and `account` received the tokens. refund_owed: the bridge could not pay the refund, so `account` has to claim it. refunded: the bridge paid the refund to `account` */
  kind: 'deposited' | 'slow_fill_requested' | 'sped_up' | 'filled' | 'delivered' | 'undelivered' | 'vault_deposited' | 'action_failed' | 'refund_owed' | 'refunded'
  /** Chain of the event */
  chainId: number
  /** Transaction of the event */
  txHash: TransactionHash
  /** Index of the event's log in its block */
  logIndex: number
  /** Block time */
  at: Timestamp
  /** Amount in the token's smallest unit; null if unknown */
  amount: Amount | null
  /** Token of the amount; null if none */
  token: Address | null
  /** Account that the event is about; null if unknown */
  account: Address | null
  /** Vault that took the deposit; null for other events */
  vaultAddress: Address | null
  /** Shares received, in the share's smallest unit; null for other events and for requests */
  shares: Amount | null
}

/** A transfer between chains failed. `reason` explains why, and where the money is. Sent once it is certain. Nothing follows. */
export type TransferFailedEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'transfer.failed'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: TransferData
}

/** Refund of a transfer that was not filled in time */
export type TransferRefund = {
  /** Source chain */
  chainId: number
  token: Address
  /** Refund in the source token's smallest unit */
  amount: Amount
  /** Transaction that paid it; with `claim`, the one that could not */
  txHash: TransactionHash
  /** Block time */
  at: Timestamp
  /** Transaction with which the depositor claims the refund; null once it is paid */
  claim: Transaction | null
}

/** A transfer between chains was not delivered in time, and the bridge refunded it on the source chain. Sent once the service finds the refund. Nothing follows. */
export type TransferRefundedEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'transfer.refunded'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: TransferData
}

/** An earlier event with `final: false` no longer holds: a reorganisation of the chain removed its block. Sent to webhooks with `finality: "latest"`, in place of the event with `final: true`. If it happens again in another block, the service sends a new event. */
export type TransferRevertedEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'transfer.reverted'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: RevertedData
}

export type TransferStatus = {
  /** Requested hash; in events, the source transaction hash */
  depositId: TransactionHash
  /** pending: not mined yet. bridging: in the bridge; terminal only with destination_not_followed. completed: terminal. failed: terminal; with expired see `terminal` */
  status: 'pending' | 'bridging' | 'completed' | 'failed'
  /** Status as text for users */
  statusDescription: string
  /** Reason why it failed or is no longer followed, else null. source_reverted: the source transaction reverted. no_deposit_in_transaction: no bridge deposit with this index in the transaction. source_dropped: the transaction is no longer valid, and no other one made this deposit. expired: it was not filled in time; usually becomes refunded or refund_not_found. refunded: the bridge refunded it on the source chain. refund_not_found: no certain refund found two weeks after the deadline. destination_action_failed: it arrived, but the vault deposit failed; the tokens went to the fallback account of the transfer. undelivered: it arrived without an instruction, at a public contract from which anyone can take it. destination_not_followed: the status stays bridging because this service does not read the destination chain */
  reason: 'source_reverted' | 'no_deposit_in_transaction' | 'source_dropped' | 'expired' | 'refunded' | 'refund_not_found' | 'destination_action_failed' | 'undelivered' | 'destination_not_followed' | null
  /** Action on the destination: deposit into a vault, or none if the bridge only delivers the funds; null until the bridge deposit is seen */
  action: 'deposit' | 'none' | null
  /** True if nothing more is expected: stop polling */
  terminal: boolean
  /** True if the transfer's blocks are final on both chains, so its status never changes again. Only if terminal, usually some minutes later */
  final: boolean
  /** Milliseconds until the next poll; null if terminal */
  nextPollAfterMs: number | null
  srcChain: ChainName
  /** Destination chain; null until the bridge deposit is seen */
  dstChain: ChainName | null
  /** Amount sent, in the source token's smallest unit */
  inputAmount: Amount | null
  /** Amount that arrived, in the destination token's smallest unit. If the destination deposit failed: the tokens that the user received */
  outputAmount: Amount | null
  /** Time of the send, of the arrival and of the action; null before */
  timestamps: {
    initiated: Timestamp | null
    bridged: Timestamp | null
    completed: Timestamp | null
  }
  /** Source transaction, and the fill on the other chain; null before */
  transactions: {
    source: TransactionHash
    fill: TransactionHash | null
  }
  /** Account that sent it and receives a refund */
  depositor: Address | null
  /** Account that receives the shares or the tokens */
  recipient: Address | null
  /** Vault that it ends in; null if the bridge only delivers the funds */
  vaultAddress: Address | null
  /** Token and amount sent */
  input: {
    token: Address
    /** Null for a token that the service does not know */
    symbol: string | null
    /** Null for a token that the service does not know */
    decimals: number | null
    /** Amount sent, in the token's smallest unit */
    amount: Amount
  } | null
  /** Token and amount on the destination */
  output: {
    token: Address
    /** Null for a token that the service does not know */
    symbol: string | null
    /** Null for a token that the service does not know */
    decimals: number | null
    /** Promised amount; delivered amount after the fill, in the token's smallest unit */
    amount: Amount
  } | null
  /** Shares that the vault minted, in the share's smallest unit; null for requests */
  sharesReceived: Amount | null
  /** Expected arrival by the quote; null if unknown or arrived */
  expectedAt: Timestamp | null
  /** Time after which an unfilled transfer is refunded */
  deadline: Timestamp | null
  /** Refund on the source chain; null if none is paid or owed */
  refund: TransferRefund | null
  /** Transaction that made the deposit in place of the requested one */
  replacedBy: TransactionHash | null
  /** Events of both chains that prove the status, in order */
  events: TransferEvent[]
  /** Transactions in block explorers; null before */
  links: {
    /** Source transaction */
    source: string
    /** Fill on the destination chain */
    fill: string | null
    /** Refund on the source chain */
    refund: string | null
  }
}

/** A vault with its live yield and state */
export type Vault = {
  /** Internal vault identifier */
  poolId: string
  chainId: ChainId
  /** Display name */
  name: string
  /** May be empty */
  logo_url: string
  /** Risk classification */
  riskProfile: string
  /** Risk rating of the protocol */
  riskProtocol: string
  /** Vault contract */
  poolAddress: Address
  /** Token to deposit */
  depositTokenAddress: Address
  /** Share token */
  yieldTokenAddress: Address
  /** async: shares come after a settlement */
  type: 'async' | 'sync'
  /** True if deposits have an upper limit */
  MaxCap: boolean
  /** Kind of vault */
  protocol: 'lagoon' | 'erc7540' | 'cooldown' | 'erc4626'
  /** Curator multisig; async vaults only, null if the vault has none */
  curatorAddress?: Address | null | undefined
  /** Address that proposes valuations; async vaults only, null if the vault has none */
  valuationManager?: Address | null | undefined
  /** Description for users */
  description: string
  /** Percent a year, two decimals; "0.00" if unknown (`annualYield` is then null) */
  APY: string
  /** Growth a year, over about 7 days; null if no known price is that old */
  annualYield: {
    /** Percent, two decimals */
    percent: string
    /** Days between the two prices, two decimals */
    days: number
    /** Time of the earlier price */
    from: Timestamp
    /** Time of the later price */
    to: Timestamp
  } | null
  /** Growth a year, each over at least this many days; null if no known price is that old */
  annualYields: {
    /** Over about 7 days, as annualYield */
    '7d': {
      /** Percent, two decimals */
      percent: string
      /** Days between the two prices, two decimals */
      days: number
      /** Time of the earlier price */
      from: Timestamp
      /** Time of the later price */
      to: Timestamp
    } | null
    /** Over about 30 days */
    '30d': {
      /** Percent, two decimals */
      percent: string
      /** Days between the two prices, two decimals */
      days: number
      /** Time of the earlier price */
      from: Timestamp
      /** Time of the later price */
      to: Timestamp
    } | null
    /** Over about 90 days */
    '90d': {
      /** Percent, two decimals */
      percent: string
      /** Days between the two prices, two decimals */
      days: number
      /** Time of the earlier price */
      from: Timestamp
      /** Time of the later price */
      to: Timestamp
    } | null
  }
  /** Growth since the first known price, while that is younger than 7 days; null otherwise */
  growth: {
    /** Percent, two decimals */
    percent: string
    /** Days between the two prices, two decimals */
    days: number
    /** Time of the earlier price */
    from: Timestamp
    /** Time of the later price */
    to: Timestamp
  } | null
  /** Tokens that campaigns pay on top of the yield, some minutes old; never part of `APY`. Null if unknown. `GET …/rewards` lists those of a user */
  rewards: ({
    /** Chain that pays it; it can differ from the chain of the vault */
    chainId: number
    /** Token that is paid */
    token: Address
    /** Its symbol, as Merkl reports it */
    symbol: string
    /** Percent a year, as Merkl reports it; null if not measured yet */
    apr: number | null
    /** End of the last live campaign */
    endsAt: Timestamp
  })[] | null
  /** Token to deposit */
  asset: {
    /** Symbol */
    symbol: string
    /** Decimals */
    decimals: number
  }
  /** Decimals of the share token */
  shareDecimals: number
  /** Assets under management at stateAsOf, in the asset's smallest unit; null if unknown */
  totalAssets: Amount | null
  /** totalAssets in US dollars, at a price some minutes old; null if either is unknown, or if reading the price takes over a second */
  totalAssetsUsd: number | null
  terms: VaultTerms
  /** Async vaults only; null if never read */
  vaultState?: VaultState | null | undefined
  /** True if the vault's code changed, or its price moved by over a tenth, since an operator confirmed it. Deposits then return `vault_has_changed` until an operator confirms it again. Checked every minute; null if not checked */
  hasChanged: boolean | null
  /** Time when an operator last confirmed the vault's code and price; null if not checked or not known now */
  pinnedAt: Timestamp | null
  /** Block of the state; null if the vault was never read */
  stateAsOf: StateAsOf | null
}

/** A vault differs from what an operator checked: its code changed, or its share price moved by over a tenth. Deposits return 409 `vault_has_changed` from now on. Sent once for each change. No event says that an operator confirmed it: read `hasChanged` of the vault. */
export type VaultChangedEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'vault.changed'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: VaultData
}

export type VaultData = {
  /** Chain of the vault */
  chainId: ChainId
  /** Vault contract */
  vaultAddress: Address
  /** Block at which the service first saw it */
  blockNumber: number
}

/** A vault is paused: it takes no deposits and pays nothing out. Sent once for each pause. Followed by `vault.resumed`. */
export type VaultPausedEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'vault.paused'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: VaultData
}

/** A paused vault is no longer paused. Sent once for each pause. Follows `vault.paused`. That one is missing if the vault was paused when you added it. */
export type VaultResumedEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'vault.resumed'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: VaultData
}

/** An earlier `vault.paused` or `vault.resumed` with `final: false` no longer holds: the vault changed back before it was final, or a reorganisation of the chain removed its block. Sent to webhooks with `finality: "latest"`, in place of the event with `final: true`. */
export type VaultRevertedEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'vault.reverted'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: RevertedData
}

/** State of a vault at one block; unknown values are null */
export type VaultState = {
  /** Share token symbol */
  symbol: string | null
  /** Share token decimals */
  decimals: number | null
  /** Underlying asset */
  asset: Address | null
  /** Symbol of the underlying asset */
  assetSymbol: string | null
  /** Decimals of the underlying asset */
  assetDecimals: number | null
  /** Assets under management, in the asset's smallest unit */
  totalAssets: Amount | null
  /** Shares outstanding, in the share's smallest unit */
  totalSupply: Amount | null
  /** Value of one whole share, in the asset's smallest unit */
  sharePrice: Amount | null
  /** Vault owner */
  owner: Address | null
  /** Curator multisig */
  safe: Address | null
  /** Address that proposes valuations */
  valuationManager: Address | null
  /** Address that receives the fees */
  feeReceiver: Address | null
  /** True if the vault takes and pays nothing now */
  paused: boolean | null
  /** Contract that holds pending deposits and withdrawals */
  pendingSilo: Address | null
  /** Assets waiting for settlement, in the asset's smallest unit */
  pendingDeposits: Amount | null
  /** Shares waiting for settlement, in the share's smallest unit */
  pendingRedeems: Amount | null
  /** True if the valuation is valid; always false before version 0.5 */
  isTotalAssetsValid: boolean | null
  /** Proposed valuation, in the asset's smallest unit; 2^256 - 1 if there is none */
  newTotalAssets: Amount | null
  /** Current deposit epoch */
  depositEpochId: number | null
  /** Current redeem epoch */
  redeemEpochId: number | null
  /** Null fields that could not be read; the vault's protocol lacks the other null fields */
  missing: string[]
}

/** Terms on which money enters and leaves a vault, with their fees */
export type VaultTerms = {
  /** Way from a deposit to shares now: instantly, or by a request that a settlement fulfils */
  entry: 'instant' | 'request'
  /** Way from shares to assets now: instantly, by a request that a settlement fulfils, after a cooldown, or none */
  exit: 'instant' | 'request' | 'cooldown' | 'none'
  /** Fees in percent, two decimals; null if unknown */
  fees: {
    /** Part of the assets, a year */
    management: string | null
    /** Part of the profit */
    performance: string | null
    /** Part of a deposit, as the vault reports it; else as measured when an operator added the vault */
    entry: string | null
    /** Part of a withdrawal, as the vault reports it; else as measured when an operator added the vault */
    exit: string | null
    /** Part of an instant withdrawal, on top of the exit fee */
    haircut: string | null
  }
  /** Assets that the vault still takes, in the asset's smallest unit; null without a limit, or if `missing` names it */
  room: Amount | null
  /** Assets that the vault pays instantly, in the asset's smallest unit; null without a limit, or if `missing` names it */
  liquidity: Amount | null
  /** Time from a request to its settlement, from the last settlements; null below five */
  settlement: {
    /** Median wait of deposit requests, or of withdrawals if only these are requests */
    medianSeconds: number
    /** 90th percentile of these waits */
    p90Seconds: number
    /** Number of settlements behind these figures */
    samples: number
  } | null
  /** Valuation of a vault whose assets are valued from time to time; null for other vaults */
  valuation: {
    /** Time of the last valuation; null if the vault does not report it */
    at: Timestamp | null
    /** Time until which it allows instant deposits; null if it allows none */
    validUntil: Timestamp | null
  } | null
  /** Wait between a withdrawal and its claim; null without one */
  cooldownSeconds: number | null
  /** Fields among `room`, `liquidity`, `valuation` and `cooldownSeconds` that could not be read, or that the vault does not report */
  missing: string[]
}

/** A wallet that the user has proven to control */
export type Wallet = {
  /** EVM address with EIP-55 checksum, or Solana address in base58 */
  address: string
  /** Kind of chain */
  chain: 'evm' | 'solana'
  linkedAt: Timestamp
}

/** Parameter of `wallet_sendCalls` (EIP-5792) */
export type WalletCalls = {
  version: '2.0.0'
  /** Chain to send them on */
  chainId: `0x${string}`
  /** Account that sends them */
  from: Address
  /** True for several transactions: the wallet executes all or none */
  atomicRequired: boolean
  /** Calls in order of execution, approvals first */
  calls: {
    /** Contract to call */
    to: Address
    /** Encoded calldata */
    data: `0x${string}`
    /** Native coin to send, in its smallest unit */
    value: `0x${string}`
  }[]
}

/** An endpoint of yours that receives events, with the state of its deliveries */
export type Webhook = {
  /** Webhook id; the same URL always has the same one */
  id: string
  /** URL that receives the events */
  url: string
  /** Event types that the service sends; null for all, including future types */
  types: ('deposit.pending' | 'deposit.claimable' | 'deposit.completed' | 'deposit.cancelled' | 'deposit.reverted' | 'withdrawal.pending' | 'withdrawal.claimable' | 'withdrawal.completed' | 'withdrawal.cancelled' | 'withdrawal.reverted' | 'transfer.completed' | 'transfer.failed' | 'transfer.refunded' | 'transfer.reverted' | 'vault.paused' | 'vault.resumed' | 'vault.changed' | 'vault.reverted' | 'reward.claimable' | 'reward.claimed')[] | null
  /** final: sends events once they are final. latest: also before */
  finality: 'final' | 'latest'
  createdAt: Timestamp
  /** active: the service sends events. disabled: it sends nothing until a test succeeds */
  status: 'active' | 'disabled'
  /** Time when it was disabled; null while active */
  disabledAt: Timestamp | null
  /** Reason why it was disabled. gone: it returned 410. failing: no delivery succeeded for three days. Null while active */
  disabledReason: 'gone' | 'failing' | null
  /** Time of the first of at least two failures in a row. Null while deliveries succeed, or if no event is waiting */
  failingSince: Timestamp | null
  delivery: WebhookDelivery
}

/** State of the deliveries to a webhook */
export type WebhookDelivery = {
  /** Last failed delivery of an event, also after later successes; null if none failed. Tests do not count */
  lastFailure: {
    /** Time of the failure */
    at: Timestamp
    /** Failure reason. not_allowed: the host name leads to a non-public address. unresolved: the host name has no IPv4 address. connection: the connection was refused or closed. tls: the certificate is not valid. timeout: no response within 5 seconds. redirect: the response was a redirect, which is not followed. status: the response was not 2xx. bad_answer: the response was not HTTP */
    reason: 'not_allowed' | 'unresolved' | 'connection' | 'tls' | 'timeout' | 'redirect' | 'status' | 'bad_answer'
    /** HTTP status of the response; null if there was none */
    status: number | null
  } | null
  /** Lowest `sequence` that waits in the log while the server is down or the webhook is disabled; null otherwise. All events from there on follow once a delivery succeeds */
  behindFrom: number | null
  /** Number of single events that failed and that the service sends again, at most 100 */
  waiting: number
  /** Earliest time of the next attempt; null if no event waits or the webhook is disabled */
  nextAttemptAt: Timestamp | null
  /** Sequences of events that the service no longer sends, newest first, at most 100. An event ends here after ten failures, or if 100 others wait when it is refused. `GET /webhooks/events` lists them. If a test enables a disabled webhook, the service sends them again. It forgets them after 30 days */
  givenUp: number[]
  /** Number of earlier events given up. The service does not send them again; `GET /webhooks/events` lists them */
  givenUpBefore: number
}

/** Event of a vault of yours or of the rewards of a user, named by `type` */
export type WebhookEvent = DepositPendingEvent | DepositClaimableEvent | DepositCompletedEvent | DepositCancelledEvent | DepositRevertedEvent | WithdrawalPendingEvent | WithdrawalClaimableEvent | WithdrawalCompletedEvent | WithdrawalCancelledEvent | WithdrawalRevertedEvent | TransferCompletedEvent | TransferFailedEvent | TransferRefundedEvent | TransferRevertedEvent | VaultPausedEvent | VaultResumedEvent | VaultChangedEvent | VaultRevertedEvent | RewardClaimableEvent | RewardClaimedEvent

export type WebhookTest = {
  /** True if the endpoint returned 2xx within 5 seconds */
  delivered: boolean
  /** HTTP status of the endpoint's response; null if there was none */
  status: number | null
  /** Failure reason. not_allowed: the host name leads to a non-public address. unresolved: the host name has no IPv4 address. connection: the connection was refused or closed. tls: the certificate is not valid. timeout: no response within 5 seconds. redirect: the response was a redirect, which is not followed. status: the response was not 2xx. bad_answer: the response was not HTTP. Null if delivered */
  reason: 'not_allowed' | 'unresolved' | 'connection' | 'tls' | 'timeout' | 'redirect' | 'status' | 'bad_answer' | null
}

/** A test delivery, to check that the webhook can be reached. Sent when you call `POST /webhooks/{id}/test`, whatever `types` the webhook has. It has no `sequence` and appears in no log. Respond with 2xx and store nothing. */
export type WebhookTestEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'webhook.test'
  /** Time when it was sent */
  timestamp: Timestamp
  /** Webhook under test */
  data: {
    /** Webhook id from `GET /webhooks` */
    webhookId: string
  }
}

/** A withdrawal and the state of its parts */
export type Withdrawal = {
  /** <chainId>-<transactionHash>-<logIndex> */
  withdrawalId: string
  vaultAddress: Address
  /** Display name */
  vaultName: string
  userAddress: Address
  chainId: ChainId
  /** pending: a part waits for settlement. Else claimable: a part can be claimed. Else completed: a part was paid. Else cancelled */
  status: 'pending' | 'claimable' | 'completed' | 'cancelled'
  /** Status as text for users */
  statusDescription: string
  /** Shares redeemed or requested, in the share's smallest unit */
  shares: Amount
  /** Assets paid, claimable or in a cooldown, in the asset's smallest unit; null while a part waits for a settlement */
  assets: Amount | null
  /** State of its parts, in the smallest units of asset and share */
  amounts: {
    /** Shares waiting for settlement or a cooldown */
    pendingShares: Amount
    /** Settled shares not claimed yet */
    claimableShares: Amount
    /** Assets for the claimable shares */
    claimableAssets: Amount
    /** Shares paid out */
    paidShares: Amount
    /** Assets paid for those shares */
    paidAssets: Amount
    /** Shares returned, or returned by another cancellation */
    cancelledShares: Amount
  }
  /** Current state of the vault */
  vault: {
    /** Percent a year, two decimals; "0.00" if unknown (`annualYield` is then null) */
    apy: string
    /** Growth a year, as of the vaults; null if unknown */
    annualYield: {
      /** Percent, two decimals */
      percent: string
      /** Days between the two prices, two decimals */
      days: number
      /** Time of the earlier price */
      from: Timestamp
      /** Time of the later price */
      to: Timestamp
    } | null
    /** Symbol of the vault's asset */
    assetSymbol: string
    /** Decimals of the vault's asset */
    assetDecimals: number
    /** Decimals of the share token */
    shareDecimals: number
    /** Value of one whole share, in the asset's smallest unit */
    sharePrice: Amount
  }
  /** Request id; 0 for instant withdrawals and cooldowns; null if above 2^53 - 1 */
  epochId: number | null
  timestamp: Timestamp
  transactionHash: TransactionHash
  /** Last transaction that paid a part; an instant withdrawal's own; null before */
  claimTransactionHash: TransactionHash | null
}

/** A user cancelled a requested withdrawal before its settlement. Sent when the vault returns the shares. A cancellation of several withdrawals has one event for each of the first 20, and one without an id for the rest. Follows `withdrawal.pending`; nothing follows. */
export type WithdrawalCancelledEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'withdrawal.cancelled'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: WithdrawalData
}

/** A vault settled a requested withdrawal, or part of it: its assets can be claimed. Sent at each settlement. After a cooldown it is sent at the end, only with `final: true`. `shares` is the amount of the request that this one settled. `assets` is null if the settlement does not report it. Follows `withdrawal.pending`; followed by `withdrawal.completed` once the assets are claimed. */
export type WithdrawalClaimableEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'withdrawal.claimable'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: WithdrawalData
}

/** A user received assets, by an instant withdrawal or by a claim. Sent for each of these. A claim follows `withdrawal.claimable`. A claim of several withdrawals has one event for each of the first 20, and one without an id for the rest. Nothing follows, except the next claim of a partly claimed withdrawal. */
export type WithdrawalCompletedEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'withdrawal.completed'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: WithdrawalData
}

export type WithdrawalData = {
  /** Chain of the vault */
  chainId: ChainId
  /** Vault contract */
  vaultAddress: Address
  /** Account that owns the deposit or withdrawal */
  userAddress: Address
  /** Transaction that caused the event; null if the vault emits no event for a settlement and the service read it from the vault */
  transactionHash: TransactionHash | null
  /** Block of that transaction, or the block at which the service read the vault */
  blockNumber: number
  /** `withdrawalId` of the withdrawal in `GET …/withdrawals`; null if unknown */
  withdrawalId: string | null
  /** The whole withdrawal at block `version`; null if it could not be read */
  entry: WithdrawalEntry | null
  /** Block whose state `entry` shows: the last final block, or the latest block with `final: false`. A state of the same id with a higher version is newer; with equal versions, the higher `sequence` is newer */
  version: number
  /** Assets of this event, in the asset's smallest unit; null if unknown */
  assets: Amount | null
  /** Shares of this event, in the share's smallest unit; null if unknown */
  shares: Amount | null
}

/** A withdrawal as `GET …/withdrawals` shows it, without `vaultName` */
export type WithdrawalEntry = {
  /** <chainId>-<transactionHash>-<logIndex> */
  withdrawalId: string
  vaultAddress: Address
  userAddress: Address
  chainId: ChainId
  /** pending: a part waits for settlement. Else claimable: a part can be claimed. Else completed: a part was paid. Else cancelled */
  status: 'pending' | 'claimable' | 'completed' | 'cancelled'
  /** Status as text for users */
  statusDescription: string
  /** Shares redeemed or requested, in the share's smallest unit */
  shares: Amount
  /** Assets paid, claimable or in a cooldown, in the asset's smallest unit; null while a part waits for a settlement */
  assets: Amount | null
  /** State of its parts, in the smallest units of asset and share */
  amounts: {
    /** Shares waiting for settlement or a cooldown */
    pendingShares: Amount
    /** Settled shares not claimed yet */
    claimableShares: Amount
    /** Assets for the claimable shares */
    claimableAssets: Amount
    /** Shares paid out */
    paidShares: Amount
    /** Assets paid for those shares */
    paidAssets: Amount
    /** Shares returned, or returned by another cancellation */
    cancelledShares: Amount
  }
  /** Current state of the vault */
  vault: {
    /** Percent a year, two decimals; "0.00" if unknown (`annualYield` is then null) */
    apy: string
    /** Growth a year, as of the vaults; null if unknown */
    annualYield: {
      /** Percent, two decimals */
      percent: string
      /** Days between the two prices, two decimals */
      days: number
      /** Time of the earlier price */
      from: Timestamp
      /** Time of the later price */
      to: Timestamp
    } | null
    /** Symbol of the vault's asset */
    assetSymbol: string
    /** Decimals of the vault's asset */
    assetDecimals: number
    /** Decimals of the share token */
    shareDecimals: number
    /** Value of one whole share, in the asset's smallest unit */
    sharePrice: Amount
  }
  /** Request id; 0 for instant withdrawals and cooldowns; null if above 2^53 - 1 */
  epochId: number | null
  timestamp: Timestamp
  transactionHash: TransactionHash
  /** Last transaction that paid a part; an instant withdrawal's own; null before */
  claimTransactionHash: TransactionHash | null
}

/** A user requested a withdrawal, or began one with a cooldown. A requested one is settled later. With a cooldown the shares are burned, and `assets` is fixed. Sent once for each of these. Followed by `withdrawal.claimable`, or `withdrawal.cancelled` for a request. */
export type WithdrawalPendingEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'withdrawal.pending'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: RequestedWithdrawalData
}

/** An earlier event with `final: false` no longer holds: a reorganisation of the chain removed its block. Sent to webhooks with `finality: "latest"`, in place of the event with `final: true`. If it happens again in another block, the service sends a new event. It comes before the event that takes its place. `entry` is the withdrawal as it stands now. If it is null and the id is not, delete the withdrawal. If the id is null, read the withdrawal again. */
export type WithdrawalRevertedEvent = {
  /** Event id, the same in every delivery and in the list; `webhook-id` of each delivery */
  id: string
  type: 'withdrawal.reverted'
  /** Time of its block */
  timestamp: Timestamp
  /** Number of the event among the client's events, counted 1, 2, 3 */
  sequence: number
  /** True once the event's block is final: finalized by its chain. On OP Mainnet, Base and Arbitrum One: two minutes old with its data on Ethereum. False before, and for every `….reverted` */
  final: boolean
  /** Details of the event */
  data: RevertedWithdrawalData
}

/** The HTTP status of each error, by its code. */
export type Errors = {
  /** Invalid JSON body. Send a JSON object with Content-Type: application/json. */
  invalid_json: 400
  /** Unknown field. Remove or correct the fields in details. */
  unknown_field: 400
  /** Not found. Use a route from GET /openapi.json. */
  not_found: 404
  /** Method not allowed. Use a method from the Allow header. */
  method_not_allowed: 405
  /** Invalid Content-Digest. Send Content-Digest: sha-256=:<base64 of the SHA-256 of the body>:, or leave it out. */
  invalid_content_digest: 400
  /** Invalid path. Send a path of letters, digits and / . _ ~ - only, without percent-encoding. */
  invalid_path: 400
  /** Payload too large. Send at most 16 KiB. */
  payload_too_large: 413
  /** Missing API key. Send your API key in the x-join-key header. */
  missing_api_key: 401
  /** Invalid API key. The API key was not recognised, has expired or was revoked. */
  invalid_api_key: 401
  /** Missing session. Log in and send the session as Authorization: Bearer <token>. */
  missing_session: 401
  /** Invalid session. Log in again. The session has expired, was logged out or belongs to another client. */
  invalid_session: 401
  /** Insufficient scope. Ask your operator for the scope. Your API key does not have it. */
  insufficient_scope: 403
  /** Chain not allowed. Send a chain of your API key, or ask your operator for this one. */
  chain_not_allowed: 403
  /** Vault not allowed. Send a vault from GET /defi-vaults/v1/vaults. Your API key does not include this one. */
  vault_not_allowed: 403
  /** Deposit limit exceeded. Deposit less, or another asset. Details give the limit of your API key. */
  deposit_limit_exceeded: 403
  /** Rate limit exceeded. Wait for the seconds in Retry-After. Your API key has used all requests of this window. */
  rate_limit_exceeded: 429
  /** Too many requests. Wait for the seconds in Retry-After. */
  too_many_requests: 429
  /** Missing or invalid platform. Send web, ios or android in the platform header. */
  missing_or_invalid_platform: 400
  /** Missing or invalid email. Send an e-mail address. */
  missing_or_invalid_email: 400
  /** Missing or invalid temporaryAuthenticationToken. Send the token that came with the options, in the body or as Authorization: Bearer <token>. */
  missing_or_invalid_temporary_authentication_token: 400
  /** Missing or invalid firstFactorCredential. Send a credential of a kind that supportedCredentialKinds lists as first factor. */
  missing_or_invalid_first_factor_credential: 400
  /** Missing or invalid secondFactorCredential. Send a credential of a kind that supportedCredentialKinds lists as second factor. A password needs one. */
  missing_or_invalid_second_factor_credential: 400
  /** Missing or invalid recoveryCredential. Send a credential of the kind RecoveryKey, or leave it out. */
  missing_or_invalid_recovery_credential: 400
  /** Invalid credential. Start again with a new challenge. Details name the failed checks. */
  invalid_credential: 400
  /** Registration expired or already used. Start again. Each registration or recovery allows one try within ten minutes. */
  registration_expired_or_used: 401
  /** User already registered. Log in instead. A user with this e-mail address exists. */
  user_already_registered: 409
  /** Credential already registered. Start again with new credentials. */
  credential_already_registered: 409
  /** Missing or invalid challengeIdentifier. Send the challengeIdentifier of POST /auth/login/init. */
  missing_or_invalid_challenge_identifier: 400
  /** Missing or invalid firstFactor. Send the credential's response to the challenge, in the form of its kind. */
  missing_or_invalid_first_factor: 400
  /** Missing or invalid secondFactor. Send the credential's response to the challenge, in the form of its kind, or leave it out. */
  missing_or_invalid_second_factor: 400
  /** Missing or invalid recovery. Send the recovery key's signature over newCredentials, with the kind RecoveryKey. */
  missing_or_invalid_recovery: 400
  /** Invalid credentialId. Send the id of the recovery key (32 bytes in base64url), or leave it out. */
  invalid_credential_id: 400
  /** Recovery failed. Start a new recovery. Each allows one try. */
  recovery_failed: 401
  /** Login failed. Start a new login. Each allows one try. */
  login_failed: 401
  /** Confirmation failed. Start again. Sign with one of the user's first factors, and with a second factor if the user has one. */
  confirmation_failed: 401
  /** Too many credentials. Remove a credential first. A user can have 8. */
  too_many_credentials: 409
  /** Credential not found. Send an id from GET /auth/credentials. The user has no credential with this one. */
  credential_not_found: 404
  /** Last first factor. Add another first factor first. Without one the user cannot log in. */
  last_first_factor: 409
  /** Last second factor. Add another second factor first, or remove the password, which needs one. */
  last_second_factor: 409
  /** Missing or invalid address. Send an address of the chain. A mixed-case EVM address needs a correct checksum. */
  missing_or_invalid_address: 400
  /** Missing or invalid chain. Send evm or solana. */
  missing_or_invalid_chain: 400
  /** Missing or invalid message. Send the message of POST /auth/wallets/init unchanged. */
  missing_or_invalid_message: 400
  /** Invalid signature. Sign the message with the wallet's own key: hexadecimal for EVM, base58 for Solana. */
  invalid_signature: 400
  /** Challenge expired or already used. Get a new challenge. Each works once, within ten minutes, for the user who got it. */
  challenge_expired_or_used: 401
  /** Wallet already linked. Nothing to do: the user has already linked this wallet. */
  wallet_already_linked: 409
  /** Too many wallets. Unlink a wallet first. A user can link 20. */
  too_many_wallets: 409
  /** Session not found. Send an id from GET /auth/sessions. The session may have ended. */
  session_not_found: 404
  /** Fresh login required. Log in again. This needs a login of the last ten minutes. */
  fresh_login_required: 403
  /** Wallet not found. Send an address from GET /auth/wallets. The user has not linked this one. */
  wallet_not_found: 404
  /** Missing or invalid vaultAddress. Send the vault contract address. A mixed-case address needs a correct checksum. */
  missing_or_invalid_vault_address: 400
  /** Missing or invalid amount. Send a positive amount in the token's smallest unit, as a string of digits. */
  missing_or_invalid_amount: 400
  /** Missing or invalid userAddress. Send the wallet address of the user, not one of a token, a vault or the bridge. A mixed-case address needs a correct checksum. */
  missing_or_invalid_user_address: 400
  /** Missing or invalid chainId. Send the id of a supported chain. Leave it out only where it is optional. */
  missing_or_invalid_chain_id: 400
  /** Missing or invalid srcChainId. Send srcChainId and srcToken together, or neither. */
  missing_or_invalid_src_chain_id: 400
  /** Missing or invalid srcToken. Send srcChainId and srcToken together, or neither. */
  missing_or_invalid_src_token: 400
  /** Missing or invalid dstChainId. Send dstChainId and dstToken together, or neither. The claim of a deposit takes neither. */
  missing_or_invalid_dst_chain_id: 400
  /** Missing or invalid dstToken. Send dstChainId and dstToken together, or neither. The claim of a deposit takes neither. */
  missing_or_invalid_dst_token: 400
  /** Unsupported source chain. Choose another source chain. Deposits into this vault cannot start on this one. */
  unsupported_source_chain: 400
  /** Unsupported source token. Send the token of that chain that is the same asset as the vault's. */
  unsupported_source_token: 400
  /** Unsupported destination chain. Choose another destination chain. Withdrawals from this vault cannot go to this one. */
  unsupported_destination_chain: 400
  /** Unsupported destination token. Send the token of that chain that is the same asset as the vault's. */
  unsupported_destination_token: 400
  /** Amount too low for bridge. Try a larger amount; details give one if known. The bridge refuses this one, or its fee exceeds a tenth of it. */
  amount_too_low_for_bridge: 400
  /** Amount too high for bridge. Try a smaller amount; details give the largest if known. The bridge cannot move this much now. */
  amount_too_high_for_bridge: 400
  /** Cross-chain deposit not available for this vault. Leave out the other chain and its token: deposit from the vault's chain, or withdraw to it. Withdrawals to other chains need a vault that pays instantly. For other vaults, send the claim to the other chain. */
  cross_chain_not_available: 409
  /** Amount exceeds balance. Withdraw less. Details give the user's balance in this vault. */
  amount_exceeds_balance: 400
  /** Ambiguous vaultAddress. Send chainId: you have a vault with this address on several chains. */
  ambiguous_vault_address: 400
  /** Vault not found. Send a vault from GET /defi-vaults/v1/vaults, with its chain. Your account has no vault with this address there. */
  vault_not_found: 404
  /** No vaults configured. Ask your operator to configure vaults for your account. */
  no_vaults_configured: 404
  /** Depositor not allowed. Use another wallet. The vault's access list does not admit this one. */
  depositor_not_allowed: 403
  /** Vault has changed. Try again once an operator confirms the vault: its code changed or its price jumped. Claims and withdrawals still work. */
  vault_has_changed: 409
  /** Vault is paused. Try again when the vault is no longer paused. */
  vault_is_paused: 409
  /** Vault is closed. Use another vault. This one is closing or closed and takes no deposits. */
  vault_is_closed: 409
  /** Vault is closing. Claim what is claimable. Withdraw the rest once the vault is closed: a closing vault takes no requests. */
  vault_is_closing: 409
  /** Deposits are not open. Try again later. The vault accepts no deposits now. */
  deposits_are_not_open: 409
  /** Unsupported vault version. Try again later. The service does not support this version of the vault yet. */
  unsupported_vault_version: 409
  /** Previous deposit request not settled. Wait until the wallet's earlier request is settled. */
  previous_deposit_request_not_settled: 409
  /** Previous withdrawal request not settled. Wait until the wallet's earlier request is settled. Other accounts can make requests for it too. */
  previous_withdrawal_request_not_settled: 409
  /** Not enough liquidity. Try a smaller amount, or try later. Details give the amount that the vault can pay now, if known. Some vaults pay after a waiting time or through their own queue. */
  not_enough_liquidity: 409
  /** Withdrawal refused by the vault. Try another amount, or try later. Details give the reason of the contract. Some vaults pay after a waiting time or through their own queue. If `terms.exit` is `none`, the vault paid nothing when an operator tried it. */
  withdrawal_refused: 409
  /** Vault cap reached. Try a smaller amount; details give the largest if known. This one would exceed the vault's cap. */
  vault_cap_reached: 409
  /** No claimable deposit found for this user. Wait for the settlement, then claim. There is nothing to claim now. */
  no_claimable_deposit: 400
  /** No claimable withdrawal. Wait for the settlement or the cooldown, then claim. Details give the end of a cooldown. */
  no_claimable_withdrawal: 404
  /** No claimable rewards. Nothing can be claimed now. If rewards are left out, details say why. */
  no_claimable_rewards: 404
  /** Claim deposit is only applicable to async vaults. Nothing to claim: the vault has no requests or cooldown of this kind. */
  claim_not_applicable: 400
  /** No pending request. Nothing to cancel: the user has no unsettled request of this kind. */
  no_pending_request: 404
  /** Request can no longer be cancelled. Try again, or wait for the settlement. The settlement or a cancellation has started, or the vault does not cancel such requests. */
  request_can_no_longer_be_cancelled: 409
  /** Cancel is only applicable to async vaults. Nothing to cancel: the vault has no requests of this kind. A cooldown cannot be cancelled. */
  cancel_not_applicable: 400
  /** Invalid asset. Send the address of a token, or leave it out. A mixed-case address needs a correct checksum. */
  invalid_asset: 400
  /** Invalid tokens. Send 1 to 50 addresses of tokens, or leave them out for all rewards. */
  invalid_tokens: 400
  /** Invalid type. Send async or sync, or leave it out. */
  invalid_type: 400
  /** Invalid sort. Send annualYield, totalAssetsUsd or name, or leave it out. */
  invalid_sort: 400
  /** Invalid order. Send asc or desc, or leave it out. */
  invalid_order: 400
  /** Invalid minTotalAssetsUsd. Send a decimal number of at least 0, without exponent, or leave it out. */
  invalid_min_total_assets_usd: 400
  /** Invalid range. Send 30d, 90d, 1y or all, or leave it out. */
  invalid_range: 400
  /** Invalid kind. Send deposit or withdrawal, or leave it out. */
  invalid_kind: 400
  /** Deposit status is only applicable to async vaults. Nothing to wait for: deposits into this vault need no settlement. */
  deposit_status_not_applicable: 400
  /** Withdraw status is only applicable to async vaults. Nothing to wait for: withdrawals from this vault need no settlement and no cooldown. */
  withdraw_status_not_applicable: 400
  /** Missing required parameter: txHash. Send the hash of the source transaction in the path. */
  missing_tx_hash: 400
  /** Invalid txHash. Send a transaction hash of 0x and 64 hexadecimal digits. */
  invalid_tx_hash: 400
  /** Missing required query parameter: srcChainId. Send the id of the chain of the source transaction. */
  missing_src_chain_id: 400
  /** Invalid srcChainId. Send the id of the chain of the source transaction, a number. */
  invalid_src_chain_id: 400
  /** Unsupported srcChainId. Choose another source chain. Transfers cannot come from this one. */
  unsupported_src_chain_id: 400
  /** Invalid index. Send the index of the transfer in the transaction, a whole number from 0 to 49. */
  invalid_index: 400
  /** Position not found. Choose another vault. The user never had a position in this one. */
  position_not_found: 404
  /** Invalid limit. Send a number from 1 to 100. */
  invalid_limit: 400
  /** Invalid cursor. Send the nextCursor of the previous page, with the same filters. */
  invalid_cursor: 400
  /** Invalid status. Send pending, claimable, completed or cancelled. */
  invalid_status: 400
  /** Missing or invalid url. Send an https URL with a public name, on port 443. Details explain the problem. */
  missing_or_invalid_url: 400
  /** Invalid types. Send types of events from `details`, or leave them out for all. */
  invalid_types: 400
  /** Invalid finality. Send final or latest, or leave it out. */
  invalid_finality: 400
  /** Invalid after. Send the sequence of your last event, or leave it out. */
  invalid_after: 400
  /** Webhook not found. Send an id from GET /webhooks. The webhook may have been removed. */
  webhook_not_found: 404
  /** Webhook already registered. Get a new secret of the existing webhook at this URL, or remove it first. */
  webhook_already_registered: 409
  /** Too many webhooks. Remove a webhook first. There can be 10. */
  too_many_webhooks: 409
  /** Unsupported currency. Send a currency such as USD, EUR, GBP, CHF or JPY, or leave it out. */
  unsupported_currency: 400
  /** Invalid days. Send a whole number of days, at least 1, or max. */
  invalid_days: 400
  /** Unsupported network. Send a chain by its key, such as base-mainnet, by its id, or by its CoinGecko platform. */
  unsupported_network: 400
  /** Token not found. Choose another token. No source has a price for this one. */
  token_not_found: 404
  /** Coin not found. Send a coin id from the search. */
  coin_not_found: 404
  /** Search must contain at least 3 characters. Send part of the name or symbol of a coin. */
  invalid_search: 400
  /** Search must contain at most 100 characters. Send part of the name or symbol of a coin. */
  search_too_long: 400
  /** Upstream unavailable. Try again. A chain or service returned an unusable response. */
  upstream_bad_answer: 502
  /** Upstream unavailable. Try again shortly. A chain or service cannot be reached. */
  upstream_unavailable: 503
  /** Upstream unavailable. Try again. A chain or service took too long to respond. */
  upstream_timeout: 504
  /** Nodes disagree. Try again shortly. Two nodes of a chain disagree, so nothing is safe to sign. */
  nodes_disagree: 503
  /** Nodes disagree. Try again shortly. One of two nodes that must agree is silent, so nothing is safe to sign. */
  second_node_silent: 503
  /** Service unavailable. Try again shortly. The service cannot respond now. */
  service_unavailable: 503
  /** Request timed out. Try again. The request took too long. */
  timed_out: 504
  /** Internal server error. Report the requestId to your operator. Something went wrong on our side. */
  internal: 500
}

/** Returns the options for creating credentials, and a temporary token. */
export const startRegistration = /* @__PURE__ */ operation<
{
  /** Platform of the application */
  platform: 'web' | 'ios' | 'android'
} & StartRegistrationRequest,
StartRegistrationResponse,
'missing_or_invalid_platform' | 'missing_or_invalid_email' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'payload_too_large' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/register/init', { headers: ['platform'] })

/** Completes a registration with the credentials created for it. */
export const completeRegistration = /* @__PURE__ */ operation<
CompleteRegistrationRequest,
undefined,
'missing_or_invalid_temporary_authentication_token' | 'unknown_field' | 'missing_or_invalid_first_factor_credential' | 'missing_or_invalid_second_factor_credential' | 'missing_or_invalid_recovery_credential' | 'invalid_json' | 'invalid_content_digest' | 'invalid_credential' | 'missing_api_key' | 'invalid_api_key' | 'registration_expired_or_used' | 'insufficient_scope' | 'user_already_registered' | 'credential_already_registered' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/register', { isEmpty: true })

/** Returns the options for new credentials after a loss, and a temporary token. */
export const startRecovery = /* @__PURE__ */ operation<
{
  /** Platform of the application */
  platform: 'web' | 'ios' | 'android'
} & StartRecoveryRequest,
StartRecoveryResponse,
'missing_or_invalid_platform' | 'missing_or_invalid_email' | 'invalid_credential_id' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/recover/init', { headers: ['platform'] })

/** Completes a recovery: new credentials, signed by the recovery key, replace all others. All sessions end. */
export const completeRecovery = /* @__PURE__ */ operation<
CompleteRecoveryRequest,
undefined,
'missing_or_invalid_temporary_authentication_token' | 'missing_or_invalid_recovery' | 'missing_or_invalid_first_factor_credential' | 'missing_or_invalid_second_factor_credential' | 'missing_or_invalid_recovery_credential' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'invalid_credential' | 'missing_api_key' | 'invalid_api_key' | 'registration_expired_or_used' | 'recovery_failed' | 'insufficient_scope' | 'credential_already_registered' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/recover', { isEmpty: true })

/** Returns a login challenge for the user's credentials, or for any passkey if you name no user. */
export const startLogin = /* @__PURE__ */ operation<
StartLoginRequest,
StartLoginResponse,
'missing_or_invalid_email' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/login/init')

/** Completes a login with the signed challenge and returns a session for 30 days. A user has at most 20 sessions: another login ends the oldest. */
export const completeLogin = /* @__PURE__ */ operation<
{
  /** Platform of the application */
  platform?: 'web' | 'ios' | 'android' | undefined
} & CompleteLoginRequest,
CompleteLoginResponse,
'missing_or_invalid_platform' | 'missing_or_invalid_challenge_identifier' | 'missing_or_invalid_first_factor' | 'missing_or_invalid_second_factor' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'missing_api_key' | 'invalid_api_key' | 'login_failed' | 'insufficient_scope' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/login', { headers: ['platform'] })

/** Ends the session of the request. */
export const logOut = /* @__PURE__ */ operation<
void,
undefined,
'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/logout', { isEmpty: true })

/** Lists the user's credentials, oldest first. */
export const listCredentials = /* @__PURE__ */ operation<
void,
ListCredentialsResponse,
'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('GET', '/auth/credentials')

/** Returns the options for a new credential and the challenge that an existing one signs to confirm it. */
export const startAddingCredential = /* @__PURE__ */ operation<
{
  /** Platform of the application */
  platform: 'web' | 'ios' | 'android'
},
StartAddingCredentialResponse,
'missing_or_invalid_platform' | 'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/credentials/init', { headers: ['platform'] })

/** Adds a credential, confirmed by an existing one. A new password, code generator or recovery key replaces the old one. */
export const addCredential = /* @__PURE__ */ operation<
AddCredentialRequest,
Credential,
'missing_or_invalid_temporary_authentication_token' | 'missing_or_invalid_first_factor_credential' | 'missing_or_invalid_second_factor_credential' | 'missing_or_invalid_recovery_credential' | 'missing_or_invalid_first_factor' | 'missing_or_invalid_second_factor' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'invalid_credential' | 'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'challenge_expired_or_used' | 'confirmation_failed' | 'insufficient_scope' | 'credential_already_registered' | 'too_many_credentials' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/credentials')

/** Removes a credential. The session's login must be at most ten minutes old. */
export const removeCredential = /* @__PURE__ */ operation<
{
  /** Credential id from the list */
  id: string
},
undefined,
'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'fresh_login_required' | 'credential_not_found' | 'last_first_factor' | 'last_second_factor' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('DELETE', '/auth/credentials/{id}', { isEmpty: true })

/** Lists the user's sessions, newest login first. */
export const listSessions = /* @__PURE__ */ operation<
void,
ListSessionsResponse,
'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('GET', '/auth/sessions')

/** Ends a session of the user. To end another session, the login of this one must be at most ten minutes old. */
export const endSession = /* @__PURE__ */ operation<
{
  /** Session id from the list */
  id: string
},
undefined,
'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'fresh_login_required' | 'session_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('DELETE', '/auth/sessions/{id}', { isEmpty: true })

/** Ends all sessions of the user except this one. The session's login must be at most ten minutes old. Offer it after credentials change. */
export const endOtherSessions = /* @__PURE__ */ operation<
void,
undefined,
'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'fresh_login_required' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('DELETE', '/auth/sessions', { isEmpty: true })

/** Deletes the user with all credentials, sessions and wallet links. The session's login must be at most ten minutes old. */
export const deleteUser = /* @__PURE__ */ operation<
void,
undefined,
'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'fresh_login_required' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('DELETE', '/auth/user', { isEmpty: true })

/** Returns the message that links a wallet once the wallet signs it. The session's login must be at most ten minutes old. */
export const startLinkingWallet = /* @__PURE__ */ operation<
StartLinkingWalletRequest,
StartLinkingWalletResponse,
'missing_or_invalid_address' | 'missing_or_invalid_chain' | 'missing_or_invalid_chain_id' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'fresh_login_required' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/wallets/init')

/** Links a wallet to the user. The wallet's signature proves that the user controls it. */
export const linkWallet = /* @__PURE__ */ operation<
LinkWalletRequest,
Wallet,
'missing_or_invalid_message' | 'invalid_signature' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'challenge_expired_or_used' | 'insufficient_scope' | 'wallet_already_linked' | 'too_many_wallets' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'nodes_disagree' | 'second_node_silent' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('POST', '/auth/wallets')

/** Lists the user's linked wallets, oldest link first. */
export const listWallets = /* @__PURE__ */ operation<
void,
ListWalletsResponse,
'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('GET', '/auth/wallets')

/** Unlinks a wallet from the user. */
export const unlinkWallet = /* @__PURE__ */ operation<
{
  /** Address from the list */
  address: string
},
undefined,
'missing_or_invalid_address' | 'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'wallet_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('DELETE', '/auth/wallets/{address}', { isEmpty: true })

/** Lists the client's vaults that the key may see, with live yield and on-chain state. Without `sort`: by chain id, then address, as text (42161 before 8453). Returns all of them, or pages. */
export const listVaults = /* @__PURE__ */ operation<
{
  /** Only vaults on this chain */
  chainId?: '1' | '10' | '56' | '100' | '137' | '8453' | '42161' | number | undefined
  /** Only vaults with this deposit token */
  asset?: Address | undefined
  /** Only vaults of this type */
  type?: 'async' | 'sync' | undefined
  /** Sorts by live figures or by name. Unknown figures come last. Pages neither repeat nor skip a vault while figures move. If vaults were added or removed, the cursor is invalid: start again */
  sort?: 'annualYield' | 'totalAssetsUsd' | 'name' | undefined
  /** Order of `sort`; default `desc` for figures, `asc` for names. Without `sort` it has no effect */
  order?: 'asc' | 'desc' | undefined
  /** Only vaults with at least this many US dollars; leaves out vaults of unknown value */
  minTotalAssetsUsd?: string | undefined
  /** Page size, 1 to 100; without it one page has all vaults */
  limit?: string | number | undefined
  /** The nextCursor of the previous page */
  cursor?: string | undefined
} | void,
ListVaultsResponse,
'missing_or_invalid_chain_id' | 'invalid_asset' | 'invalid_type' | 'invalid_sort' | 'invalid_order' | 'invalid_min_total_assets_usd' | 'invalid_limit' | 'invalid_cursor' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'no_vaults_configured' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('GET', '/defi-vaults/v1/vaults', { query: ['chainId', 'asset', 'type', 'sort', 'order', 'minTotalAssetsUsd', 'limit', 'cursor'], items: 'data' })

/** Returns one of the client's vaults with its live yield and on-chain state, as in the list. */
export const getVault = /* @__PURE__ */ operation<
{
  /** Vault contract */
  vaultAddress: Address
  /** Chain of the vault; required if two chains have a vault with this address */
  chainId?: '1' | '10' | '56' | '100' | '137' | '8453' | '42161' | number | undefined
},
GetVaultResponse,
'missing_or_invalid_vault_address' | 'missing_or_invalid_chain_id' | 'invalid_path' | 'ambiguous_vault_address' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'chain_not_allowed' | 'vault_not_allowed' | 'vault_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('GET', '/defi-vaults/v1/vault/{vaultAddress}', { query: ['chainId'] })

/** Returns a vault's recorded share prices, oldest first: the last of each hour within 30 days, the first of each day (UTC) in longer ranges. */
export const getVaultHistory = /* @__PURE__ */ operation<
{
  /** Vault contract */
  vaultAddress: Address
  /** Period that ends now */
  range?: '30d' | '90d' | '1y' | 'all' | undefined
  /** Chain of the vault; required if two chains have a vault with this address */
  chainId?: '1' | '10' | '56' | '100' | '137' | '8453' | '42161' | number | undefined
},
GetVaultHistoryResponse,
'missing_or_invalid_vault_address' | 'invalid_range' | 'missing_or_invalid_chain_id' | 'invalid_path' | 'ambiguous_vault_address' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'chain_not_allowed' | 'vault_not_allowed' | 'vault_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('GET', '/defi-vaults/v1/defi/vault/{vaultAddress}/history', { query: ['range', 'chainId'] })

/** Builds the transactions that deposit into a vault: approvals first, then the operations, in order. */
export const prepareDeposit = /* @__PURE__ */ operation<
PrepareDepositRequest,
PrepareDepositResponse,
'missing_or_invalid_vault_address' | 'missing_or_invalid_amount' | 'missing_or_invalid_user_address' | 'missing_or_invalid_src_chain_id' | 'unsupported_source_chain' | 'missing_or_invalid_src_token' | 'missing_or_invalid_chain_id' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'unsupported_source_token' | 'amount_too_low_for_bridge' | 'amount_too_high_for_bridge' | 'ambiguous_vault_address' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'chain_not_allowed' | 'vault_not_allowed' | 'deposit_limit_exceeded' | 'depositor_not_allowed' | 'vault_not_found' | 'cross_chain_not_available' | 'vault_has_changed' | 'vault_is_paused' | 'vault_is_closed' | 'deposits_are_not_open' | 'unsupported_vault_version' | 'previous_deposit_request_not_settled' | 'vault_cap_reached' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'nodes_disagree' | 'second_node_silent' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('POST', '/defi-vaults/v1/defi/vault/deposit')

/** Builds the transactions that withdraw from a vault, by assets, by shares or everything. */
export const prepareWithdrawal = /* @__PURE__ */ operation<
PrepareWithdrawalRequest,
PrepareWithdrawalResponse,
'missing_or_invalid_vault_address' | 'missing_or_invalid_user_address' | 'missing_or_invalid_amount' | 'missing_or_invalid_chain_id' | 'missing_or_invalid_dst_chain_id' | 'unsupported_destination_chain' | 'missing_or_invalid_dst_token' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'unsupported_destination_token' | 'amount_too_low_for_bridge' | 'amount_too_high_for_bridge' | 'ambiguous_vault_address' | 'amount_exceeds_balance' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'depositor_not_allowed' | 'vault_not_found' | 'cross_chain_not_available' | 'vault_is_paused' | 'vault_is_closing' | 'unsupported_vault_version' | 'previous_withdrawal_request_not_settled' | 'not_enough_liquidity' | 'withdrawal_refused' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'nodes_disagree' | 'second_node_silent' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('POST', '/defi-vaults/v1/defi/vault/withdraw')

/** Builds the transactions that claim a deposit's shares or a withdrawal's assets, after its settlement or cooldown. */
export const prepareClaim = /* @__PURE__ */ operation<
PrepareClaimRequest,
PrepareClaimResponse,
'missing_or_invalid_vault_address' | 'missing_or_invalid_user_address' | 'invalid_kind' | 'missing_or_invalid_chain_id' | 'missing_or_invalid_dst_chain_id' | 'unsupported_destination_chain' | 'missing_or_invalid_dst_token' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'unsupported_destination_token' | 'amount_too_low_for_bridge' | 'amount_too_high_for_bridge' | 'ambiguous_vault_address' | 'claim_not_applicable' | 'no_claimable_deposit' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'depositor_not_allowed' | 'vault_not_found' | 'no_claimable_withdrawal' | 'cross_chain_not_available' | 'vault_is_paused' | 'withdrawal_refused' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'nodes_disagree' | 'second_node_silent' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('POST', '/defi-vaults/v1/defi/vault/claim')

/** Builds and simulates the claim of a user's rewards on one chain, proven by the chain's root. At most 10 tokens a claim. */
export const prepareRewardsClaim = /* @__PURE__ */ operation<
PrepareRewardsClaimRequest,
PrepareRewardsClaimResponse,
'missing_or_invalid_user_address' | 'missing_or_invalid_chain_id' | 'invalid_tokens' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'no_claimable_rewards' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'nodes_disagree' | 'second_node_silent' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('POST', '/defi-vaults/v1/defi/rewards/claim')

/** Builds the transaction that cancels a user's pending deposit or withdrawal request. A withdrawal with a cooldown cannot be cancelled. */
export const prepareCancellation = /* @__PURE__ */ operation<
PrepareCancellationRequest,
PrepareCancellationResponse,
'missing_or_invalid_vault_address' | 'missing_or_invalid_user_address' | 'invalid_kind' | 'missing_or_invalid_chain_id' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'ambiguous_vault_address' | 'cancel_not_applicable' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'depositor_not_allowed' | 'vault_not_found' | 'no_pending_request' | 'vault_is_paused' | 'request_can_no_longer_be_cancelled' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'nodes_disagree' | 'second_node_silent' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('POST', '/defi-vaults/v1/defi/vault/cancel')

/** Returns the status of a user's deposit by request: pending, claimable, cancelled or deposited. */
export const getDepositStatus = /* @__PURE__ */ operation<
{
  /** Vault contract */
  vaultAddress: Address
  /** The user's wallet */
  userAddress: Address
  /** Chain of the vault; required if two chains have a vault with this address */
  chainId?: '1' | '10' | '56' | '100' | '137' | '8453' | '42161' | number | undefined
},
GetDepositStatusResponse,
'missing_or_invalid_vault_address' | 'missing_or_invalid_user_address' | 'missing_or_invalid_chain_id' | 'invalid_path' | 'ambiguous_vault_address' | 'deposit_status_not_applicable' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'vault_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/defi-vaults/v1/defi/vault/{vaultAddress}/deposit-status', { query: ['userAddress', 'chainId'] })

/** Returns the status of a user's withdrawal by request or with a cooldown: pending, claimable, cancelled or withdrawn. */
export const getWithdrawalStatus = /* @__PURE__ */ operation<
{
  /** Vault contract */
  vaultAddress: Address
  /** The user's wallet */
  userAddress: Address
  /** Chain of the vault; required if two chains have a vault with this address */
  chainId?: '1' | '10' | '56' | '100' | '137' | '8453' | '42161' | number | undefined
},
GetWithdrawalStatusResponse,
'missing_or_invalid_vault_address' | 'missing_or_invalid_user_address' | 'missing_or_invalid_chain_id' | 'invalid_path' | 'ambiguous_vault_address' | 'withdraw_status_not_applicable' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'vault_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/defi-vaults/v1/defi/vault/{vaultAddress}/withdraw-status', { query: ['userAddress', 'chainId'] })

/** Returns the status of a transfer between chains. It follows a deposit to the shares or the deposit request, and a withdrawal to the tokens. */
export const getTransferStatus = /* @__PURE__ */ operation<
{
  /** Source chain transaction hash, or the hash of a user operation (ERC-4337) */
  txHash: TransactionHash
  /** Chain of that transaction */
  srcChainId: string | number
  /** Account that made the transfer. Required to choose among the transfers of a bundle */
  userAddress?: Address | undefined
  /** Index of the transfer in the transaction, or among the user's, from 0 to 49 */
  index?: string | number | undefined
},
GetTransferStatusResponse,
'missing_tx_hash' | 'invalid_tx_hash' | 'missing_src_chain_id' | 'invalid_src_chain_id' | 'unsupported_src_chain_id' | 'missing_or_invalid_user_address' | 'invalid_index' | 'invalid_path' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/defi-vaults/v1/defi/cross-chain/{txHash}/status', { query: ['srcChainId', 'userAddress', 'index'] })

/** Lists a user's positions in the client's vaults: amounts deposited, withdrawn, held and earned. */
export const listPositions = /* @__PURE__ */ operation<
{
  /** The user's wallet */
  userAddress: Address
},
ListPositionsResponse,
'missing_or_invalid_user_address' | 'invalid_path' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/defi-vaults/v1/defi/user/{userAddress}/positions')

/** Returns a user's position in one vault with its amounts, latest deposits and a price history. */
export const getPosition = /* @__PURE__ */ operation<
{
  /** The user's wallet */
  userAddress: Address
  /** Vault contract */
  vaultAddress: Address
  /** Chain of the vault; required if two chains have a vault with this address */
  chainId?: '1' | '10' | '56' | '100' | '137' | '8453' | '42161' | number | undefined
},
GetPositionResponse,
'missing_or_invalid_user_address' | 'missing_or_invalid_vault_address' | 'missing_or_invalid_chain_id' | 'invalid_path' | 'ambiguous_vault_address' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'vault_not_found' | 'position_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/defi-vaults/v1/defi/user/{userAddress}/positions/{vaultAddress}', { query: ['chainId'] })

/** Lists a user's deposits into the client's vaults, newest first, page by page. */
export const listDeposits = /* @__PURE__ */ operation<
{
  /** The user's wallet */
  userAddress: Address
  /** Page size, 1 to 100 */
  limit?: string | number | undefined
  /** The nextCursor of the previous page */
  cursor?: string | undefined
  /** Only this vault */
  vaultAddress?: Address | undefined
  /** Only this chain */
  chainId?: '1' | '10' | '56' | '100' | '137' | '8453' | '42161' | number | undefined
  /** Only this status */
  status?: 'pending' | 'claimable' | 'completed' | 'cancelled' | undefined
},
ListDepositsResponse,
'missing_or_invalid_user_address' | 'invalid_limit' | 'invalid_cursor' | 'missing_or_invalid_vault_address' | 'missing_or_invalid_chain_id' | 'invalid_status' | 'invalid_path' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/defi-vaults/v1/defi/user/{userAddress}/deposits', { query: ['limit', 'cursor', 'vaultAddress', 'chainId', 'status'], items: 'deposits' })

/** Lists a user's withdrawals from the client's vaults, instant and requested, newest first, page by page. */
export const listWithdrawals = /* @__PURE__ */ operation<
{
  /** The user's wallet */
  userAddress: Address
  /** Page size, 1 to 100 */
  limit?: string | number | undefined
  /** The nextCursor of the previous page */
  cursor?: string | undefined
  /** Only this vault */
  vaultAddress?: Address | undefined
  /** Only this chain */
  chainId?: '1' | '10' | '56' | '100' | '137' | '8453' | '42161' | number | undefined
  /** Only this status */
  status?: 'pending' | 'claimable' | 'completed' | 'cancelled' | undefined
},
ListWithdrawalsResponse,
'missing_or_invalid_user_address' | 'invalid_limit' | 'invalid_cursor' | 'missing_or_invalid_vault_address' | 'missing_or_invalid_chain_id' | 'invalid_status' | 'invalid_path' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/defi-vaults/v1/defi/user/{userAddress}/withdrawals', { query: ['limit', 'cursor', 'vaultAddress', 'chainId', 'status'], items: 'withdrawals' })

/** Lists the rewards that campaigns pay a user on top of vault yields. It reads all supported chains that the key may use, and the chain proves claimable amounts. */
export const listRewards = /* @__PURE__ */ operation<
{
  /** The user's wallet */
  userAddress: Address
  /** Only rewards on this chain */
  chainId?: '1' | '10' | '56' | '100' | '137' | '8453' | '42161' | number | undefined
},
ListRewardsResponse,
'missing_or_invalid_user_address' | 'missing_or_invalid_chain_id' | 'invalid_path' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/defi-vaults/v1/defi/user/{userAddress}/rewards', { query: ['chainId'] })

/** Returns all balances of the user's wallets on all chains, with their values. */
export const listBalances = /* @__PURE__ */ operation<
{
  /** Currency code in any case, such as USD, EUR, GBP, CHF or JPY */
  currency?: string | undefined
} | void,
ListBalancesResponse,
'unsupported_currency' | 'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/portfolio-indexor/allBalances', { query: ['currency'] })

/** Lists the NFTs in the user's wallets on all chains, by collection. */
export const listNFTs = /* @__PURE__ */ operation<
void,
ListNFTsResponse,
'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/portfolio-indexor/nft')

/** Returns a coin's price history, by CoinGecko id. */
export const getCoinChart = /* @__PURE__ */ operation<
{
  /** CoinGecko id, such as bitcoin */
  id: string
  /** Currency code in any case, such as USD, EUR, GBP, CHF or JPY */
  currency?: string | undefined
  /** Number of days from 1 to 36500, or max */
  days?: string | number | undefined
},
GetCoinChartResponse,
'unsupported_currency' | 'invalid_days' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'token_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/portfolio-indexor/token/id/{id}', { query: ['currency', 'days'] })

/** Returns a token's price history, by network and token address. */
export const getTokenChart = /* @__PURE__ */ operation<
{
  /** Chain: a key such as base-mainnet, an id or a CoinGecko platform */
  network: string
  /** The token's contract; `native`, 0xEeee…EEeE or 0x000…000 for the chain's own coin */
  address: string
  /** Currency code in any case, such as USD, EUR, GBP, CHF or JPY */
  currency?: string | undefined
  /** Number of days from 1 to 36500, or max */
  days?: string | number | undefined
},
GetTokenChartResponse,
'unsupported_network' | 'unsupported_currency' | 'invalid_days' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'token_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/portfolio-indexor/token/address/{network}/{address}', { query: ['currency', 'days'] })

/** Lists the supported coins on all chains, with price, market cap, volume and other data. */
export const listCoins = /* @__PURE__ */ operation<
{
  /** Currency code in any case, such as USD, EUR, GBP, CHF or JPY */
  currency?: string | undefined
} | void,
ListCoinsResponse,
'unsupported_currency' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_unavailable' | 'service_unavailable' | 'timed_out'
>('GET', '/portfolio-indexor/markets', { query: ['currency'] })

/** Lists the largest gainers and losers of the last 24 hours among the 1,000 largest coins. */
export const listGainersAndLosers = /* @__PURE__ */ operation<
{
  /** Currency code in any case, such as USD, EUR, GBP, CHF or JPY */
  currency?: string | undefined
} | void,
ListGainersAndLosersResponse,
'unsupported_currency' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_unavailable' | 'service_unavailable' | 'timed_out'
>('GET', '/portfolio-indexor/markets/top_gainers_losers', { query: ['currency'] })

/** Returns a coin's price, market cap, volume and other market data. */
export const getCoin = /* @__PURE__ */ operation<
{
  /** CoinGecko id, such as bitcoin */
  id: string
  /** Currency code in any case, such as USD, EUR, GBP, CHF or JPY */
  currency?: string | undefined
},
GetCoinResponse,
'unsupported_currency' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'coin_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/portfolio-indexor/markets/coins/{id}', { query: ['currency'] })

/** Finds coins by name or symbol, largest first, with their prices. */
export const searchCoins = /* @__PURE__ */ operation<
{
  /** Currency code in any case, such as USD, EUR, GBP, CHF or JPY */
  currency?: string | undefined
} & SearchCoinsRequest,
SearchCoinsResponse,
'unsupported_currency' | 'invalid_search' | 'search_too_long' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('POST', '/portfolio-indexor/markets/coins/search', { query: ['currency'] })

/** Registers an HTTPS endpoint of yours. The service sends it the events of your vaults from now on. */
export const registerWebhook = /* @__PURE__ */ operation<
RegisterWebhookRequest,
RegisteredWebhook,
'missing_or_invalid_url' | 'invalid_types' | 'invalid_finality' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'webhook_already_registered' | 'too_many_webhooks' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/webhooks')

/** Lists your webhooks, oldest first, with the state of their deliveries. It does not show secrets. */
export const listWebhooks = /* @__PURE__ */ operation<
void,
ListWebhooksResponse,
'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('GET', '/webhooks')

/** Gives a webhook a new secret. For 24 hours the service signs each delivery with both secrets, new and previous. */
export const rotateWebhookSecret = /* @__PURE__ */ operation<
{
  /** Webhook id from `GET /webhooks` */
  id: string
},
RotateWebhookSecretResponse,
'invalid_path' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'webhook_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/webhooks/{id}/secret')

/** Sends a `webhook.test` event immediately and returns whether it was delivered. After a success, a webhook that is behind gets its events immediately. A disabled webhook is enabled, and gets all events that it missed. */
export const testWebhook = /* @__PURE__ */ operation<
{
  /** Webhook id from `GET /webhooks` */
  id: string
},
WebhookTest,
'invalid_path' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'webhook_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/webhooks/{id}/test')

/** Removes a webhook. The service sends it nothing more, not even waiting events. */
export const removeWebhook = /* @__PURE__ */ operation<
{
  /** Webhook id from `GET /webhooks` */
  id: string
},
undefined,
'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'webhook_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('DELETE', '/webhooks/{id}', { isEmpty: true })

/** Lists the events of the last 30 days in order of `sequence`, delivered or not. */
export const listEvents = /* @__PURE__ */ operation<
{
  /** The `sequence` of your last event: the list starts after it. Left out: the list starts with the oldest event */
  after?: string | number | undefined
  /** Maximum number of events, 1 to 100 */
  limit?: string | number | undefined
} | void,
ListEventsResponse,
'invalid_after' | 'invalid_limit' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('GET', '/webhooks/events', { query: ['after', 'limit'] })

/** Returns the service's status and version. */
export const getHealth = /* @__PURE__ */ operation<
void,
GetHealthResponse,
'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('GET', '/health')

