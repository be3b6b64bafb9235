// Written from the contracts by `npm run client`.

import { operation } from './operation.ts'

export type AddCredentialRequest = {
  /** The temporaryAuthenticationToken that came with the options */
  temporaryAuthenticationToken: string
  /** Exactly one of the three is given */
  firstFactorCredential?: NewFirstFactor | null | undefined
  secondFactorCredential?: NewSecondFactor | null | undefined
  recoveryCredential?: NewRecoveryKey | null | undefined
  /** As at a login: the second factor is needed where the user has one */
  confirmation: {
    firstFactor: FirstFactor
    secondFactor?: SecondFactor | null | undefined
  }
}

/** EVM address */
export type Address = `0x${string}`

/** Whole number below 2^256 */
export type Amount = string

/** What a user holds of one token */
export type Balance = {
  /** In the token's smallest unit */
  balance: Amount
  /** EIP-55 checksummed, or base58 on Solana; 0xEeee…EEeE and So111…112 for coins */
  contract_address: string
  /** Decimals of the token */
  contract_decimals: number
  /** As the token calls itself; may be empty */
  contract_name: string
  /** As the token calls itself; may be empty */
  contract_ticker_symbol: string
  /** Whether it looks like spam; such a token has no price */
  is_spam: boolean
  /** What the balance is worth, in the currency */
  quote: number
  /** The chain's key */
  chainName: string
  /** May be empty */
  logo_url: string
  /** What today's balance was worth a day ago; 0 when unknown */
  quote_24h: number
  /** Change of the quote in percent of the day before's; 0 when unknown */
  quote_24h_variation: number
  /** Price of one whole token */
  quote_rate: number
  /** Price a day ago; 0 when unknown */
  quote_rate_24h: number
  /** Change of the price in percent of the day before's; 0 when unknown */
  quote_rate_24h_variation: number
  /** Whether it is the coin of its chain */
  native_token: boolean
  /** Whether it is shares of a vault */
  defi: boolean
  /** Whether the price is known; without it the quotes are 0 and mean nothing */
  price_available: boolean
  /** Of which moment the price is */
  price_updated_at: Timestamp | null
}

/** What the bridge offers */
export type BridgeQuote = {
  /** What is sent, in the source token's smallest unit */
  inputAmount: Amount
  /** What arrives, in the destination token's smallest unit */
  outputAmount: Amount
  /** In the source token's smallest unit */
  feeTotal: Amount
  /** How long it is expected to take */
  expectedFillSeconds: number
  /** Send the transactions before */
  expiresAt: Timestamp
}

/** Chain id */
export type ChainId = 1 | 10 | 56 | 100 | 137 | 8453 | 42161 | (number & {})

/** What answers about a portfolio call a chain */
export type ChainKey = 'eth-mainnet' | 'optimism-mainnet' | 'bsc-mainnet' | 'gnosis-mainnet' | 'matic-mainnet' | 'base-mainnet' | 'arbitrum-mainnet' | 'solana-mainnet'

/** A chain by its id and name */
export type ChainName = {
  /** Chain id */
  id: number
  /** What people call it */
  name: string
}

export type CompleteLoginRequest = {
  /** As POST /auth/login/init gave it */
  challengeIdentifier: string
  firstFactor: FirstFactor
  /** Needed where the user has one */
  secondFactor?: SecondFactor | null | undefined
}

export type CompleteLoginResponse = {
  /** The session: send it as Authorization: Bearer <token> */
  token: string
  expiresAt: Timestamp
  /** Who has logged in */
  user: {
    /** Never changes */
    id: string
    /** In lower case */
    email: string
  }
}

export type CompleteRecoveryRequest = {
  /** The temporaryAuthenticationToken that came with the options */
  temporaryAuthenticationToken?: string | null | undefined
  /** The temporaryAuthenticationToken, in place of the field */
  tempAuthToken?: string | null | undefined
  /** Needed. Its client data is of the type key.get; its challenge is base64url of the JSON text of newCredentials, or the challenge of the options */
  recovery?: Recovery | null | undefined
  /** The recovery, in place of the field */
  signedRecoveryPackage?: Recovery | null | undefined
  /** Needed. Made as for a registration */
  newCredentials?: {
    firstFactorCredential: NewFirstFactor
    /** No passkey beside another one */
    secondFactorCredential?: NewSecondFactor | null | undefined
    recoveryCredential?: NewRecoveryKey | null | undefined
  } | null | undefined
}

export type CompleteRegistrationRequest = {
  /** The temporaryAuthenticationToken that came with the options */
  temporaryAuthenticationToken?: string | null | undefined
  /** The temporaryAuthenticationToken, in place of the field */
  tempAuthToken?: string | null | undefined
  /** Sent by some clients, and not looked at */
  appId?: string | null | undefined
  /** Required, here or in signedChallenge: a new credential to log in with */
  firstFactorCredential?: NewFirstFactor | null | undefined
  /** No passkey beside another one */
  secondFactorCredential?: NewSecondFactor | null | undefined
  recoveryCredential?: NewRecoveryKey | null | undefined
  /** The three credentials, in place of the fields */
  signedChallenge?: {
    /** Required, here or in signedChallenge: a new credential to log in with */
    firstFactorCredential?: NewFirstFactor | null | undefined
    /** No passkey beside another one */
    secondFactorCredential?: NewSecondFactor | null | undefined
    recoveryCredential?: NewRecoveryKey | null | undefined
  } | null | undefined
}

/** A credential as its user sees it */
export type Credential = {
  /** What names it here */
  id: string
  /** What it is */
  kind: 'Fido2' | 'Key' | 'Password' | 'Totp' | 'RecoveryKey' | 'PasswordProtectedKey'
  /** What it is asked for: to log in with, besides another one, or when all others are lost */
  factor: 'first' | 'second' | 'recovery'
  /** As its user called it */
  name: string | null
  createdAt: Timestamp
  /** When somebody last logged in with it, or confirmed a change */
  lastUsedAt: Timestamp | null
  /** What names a key or a passkey to its client; null for others: that of a recovery key is a secret */
  credentialId: string | null
  /** Passkeys only: whether it is kept in more places than one device */
  backedUp?: boolean | undefined
}

/** What names a key or a passkey to its client */
export type CredentialDescriptor = {
  type: 'public-key'
  /** What the client calls the credential, in base64url */
  id: string
}

/** A deposit and its part of what the user has now */
export type Deposit = {
  /** <chainId>-<transactionHash>-<logIndex> */
  depositId: string
  vaultAddress: Address
  /** Display name */
  vaultName: string
  userAddress: Address
  chainId: ChainId
  /** The one that is furthest from its end */
  status: 'pending' | 'claimable' | 'completed' | 'cancelled'
  /** The status for people */
  statusDescription: string
  /** In the smallest units of asset and share */
  amounts: {
    /** What went in */
    depositedAssets: Amount
    /** This deposit's part of the assets awaiting settlement */
    pendingDeposit: Amount
    /** This deposit's part of the shares ready to claim */
    claimableShares: Amount
    /** This deposit's part of the shares in the wallet */
    currentShares: Amount
  }
  /** The vault now */
  vault: {
    /** Percent a year with two decimals; "0.00" where it is not known, which `annualYield` tells apart */
    apy: string
    /** The yield as `apy` of the vaults has it; null where none is known */
    annualYield: {
      /** Percent a year with two decimals, by the growth of the share price */
      value: string
      /** Days between the two prices, with two decimals: about seven; less while the first known price is younger; more where the price before was known long ago */
      days: number
      /** The time of the later price */
      asOf: Timestamp
    } | null
    /** Of the vault's asset */
    assetSymbol: string
    /** Of the vault's asset */
    assetDecimals: number
    /** Decimals of the share token */
    shareDecimals: number
    /** What one whole share is worth, in the asset's smallest unit */
    sharePrice: Amount
  }
  /** The request id; 0 for synchronous deposits; null where it is above 2^53 - 1 */
  epochId: number | null
  timestamp: Timestamp
  transactionHash: TransactionHash
  /** Where a deposit from another chain began; told once its arrival is final and its status was asked for, else absent */
  source?: DepositSource | undefined
}

/** A user took a requested deposit back before it was settled. Sent when the assets are returned. Follows `deposit.pending`; nothing follows. */
export type DepositCancelledEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'deposit.cancelled'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: DepositData
}

/** A vault settled a requested deposit, or a part of it: its shares can be claimed. Sent at each settlement: `assets` is how much of the request this one settled, and `shares` is null, for the claim decides. Follows `deposit.pending`; followed by `deposit.completed` once the shares are claimed. */
export type DepositClaimableEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'deposit.claimable'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: DepositData
}

/** A user received shares: by a deposit that took effect at once, or by a claim. Sent for each of these. A claim follows `deposit.claimable`. Nothing follows, but for the next claim of a deposit that was claimed in part. */
export type DepositCompletedEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'deposit.completed'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: DepositData
}

export type DepositData = {
  /** The vault's chain */
  chainId: ChainId
  /** Vault contract */
  vaultAddress: Address
  /** The account that the deposit or the withdrawal belongs to */
  userAddress: Address
  /** The transaction that caused it; null for a settlement of a vault that emits no event for it, where the service read it from the vault */
  transactionHash: TransactionHash | null
  /** The block of that transaction, or the block at which the vault was read */
  blockNumber: number
  /** The deposits that the event is about: their ids in `GET …/deposits`. At most 100: where there are more, the rest are left out, and the amounts still count all of them */
  depositIds: string[]
  /** In the asset's smallest unit; null where it is not known */
  assets: Amount | null
  /** In the share's smallest unit; null where it is not known */
  shares: Amount | null
}

/** A user requested a deposit into an asynchronous vault: the vault has the assets, and settles the request later. Sent once for each request. Followed by `deposit.claimable`, or by `deposit.cancelled`. */
export type DepositPendingEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'deposit.pending'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: RequestedDepositData
}

/** A reorganisation of the chain removed what an earlier event of this kind, with `final: false`, reported. Sent to webhooks with `finality: "latest"`, in place of the event with `final: true`. What happens again in another block is a new event. */
export type DepositRevertedEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'deposit.reverted'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: RevertedData
}

/** Where a deposit from another chain began */
export type DepositSource = {
  chainId: ChainId
  transactionHash: TransactionHash
}

/** How long it is from a request to its settlement, by the vault's own last settlements */
export type EstimatedSettlement = {
  /** In seconds: half of its last settlements took no longer */
  p50: number
  /** In seconds: nine in ten took no longer */
  p90: number
}

/** Which block of a chain an answer rests on, and how many hosts told it */
export type Evidence = {
  chainId: ChainId
  /** The block; of several that were read, the earliest */
  blockNumber: number
  /** Its hash */
  blockHash: TransactionHash
  /** Its time */
  timestamp: Timestamp
  /** How many nodes of different hosts told the same of all that the answer rests on; of two that were some blocks apart, the block is that of the older one */
  nodes: number
}

/** What a first factor made of the challenge */
export type FirstFactor = {
  kind: 'Fido2'
  /** What it made of the challenge */
  credentialAssertion: {
    /** base64url of at most 1023 bytes */
    credId: string
    /** The client data as signed, in base64url */
    clientData: string
    /** As the authenticator gave it, in base64url */
    authenticatorData: string
    /** Of the client data, in base64url */
    signature: string
    /** As the authenticator gave it, in base64url */
    userHandle?: string | '' | null | null | undefined
    /** Sent by some clients, and not looked at */
    algorithm?: string | null | undefined
  }
} | {
  /** A key of the client, in the open or opened by a password */
  kind: 'Key' | 'PasswordProtectedKey'
  /** What it made of the challenge */
  credentialAssertion: {
    /** base64url of at most 1023 bytes */
    credId: string
    /** The client data as signed, in base64url */
    clientData: string
    /** Of the client data, in base64url */
    signature: string
    /** SHA256, SHA512 or RSA-SHA256, where it is not the usual one of the key */
    algorithm?: string | null | undefined
  }
} | {
  kind: 'Password'
  /** 8 to 256 characters */
  password: string
}

export type GetCoinChartResponse = {
  /** Pairs of epoch milliseconds and a price, ascending; the last one is now */
  prices: [number, number][]
  /** May be empty */
  market_caps: [number, number][]
  /** May be empty */
  total_volumes: [number, number][]
  /** Additive */
  currency: 'usd' | 'eur' | 'gbp' | 'chf' | 'jpy' | 'aed' | 'ars' | 'aud' | 'bdt' | 'bhd' | 'bmd' | 'brl' | 'cad' | 'clp' | 'cny' | 'czk' | 'dkk' | 'gel' | 'hkd' | 'huf' | 'idr' | 'ils' | 'inr' | 'krw' | 'kwd' | 'lkr' | 'mmk' | 'mxn' | 'myr' | 'ngn' | 'nok' | 'nzd' | 'php' | 'pkr' | 'pln' | 'rub' | 'sar' | 'sek' | 'sgd' | 'thb' | 'try' | 'twd' | 'uah' | 'vef' | 'vnd' | 'zar' | 'xdr' | 'xag' | 'xau' | 'bits' | 'sats' | 'btc' | 'eth' | 'ltc' | 'bch' | 'bnb' | 'eos' | 'xrp' | 'xlm' | 'link' | 'dot' | 'yfi'
  /** How many days the chart tells of. Additive */
  days: string
  /** Whether these are fewer days than were asked for. Additive */
  truncated: boolean
}

export type GetCoinResponse = {
  /** By CoinGecko */
  id: string
  /** Symbol */
  symbol: string
  /** Name */
  name: string
  /** May be empty */
  image: string
  /** In the currency */
  current_price: number
  /** In the currency; null when unknown */
  market_cap: number | null
  /** 1 for the largest; null when unknown */
  market_cap_rank: number | null
  /** Of the last 24 hours, in the currency; null when unknown */
  total_volume: number | null
  /** The highest price of the last 24 hours; null when unknown */
  high_24h: number | null
  /** The lowest price of the last 24 hours; null when unknown */
  low_24h: number | null
  /** In the currency; null when unknown */
  price_change_24h: number | null
  /** In percent; null when unknown */
  price_change_percentage_24h: number | null
  /** Whole coins; null when unknown */
  circulating_supply: number | null
  /** Whole coins; null when unknown */
  total_supply: number | null
  /** Whole coins; null where there is no limit, or when unknown */
  max_supply: number | null
  /** The highest price ever */
  ath: number | null
  /** The lowest price ever */
  atl: number | null
  last_updated: Timestamp
  /** Additive */
  currency: 'usd' | 'eur' | 'gbp' | 'chf' | 'jpy' | 'aed' | 'ars' | 'aud' | 'bdt' | 'bhd' | 'bmd' | 'brl' | 'cad' | 'clp' | 'cny' | 'czk' | 'dkk' | 'gel' | 'hkd' | 'huf' | 'idr' | 'ils' | 'inr' | 'krw' | 'kwd' | 'lkr' | 'mmk' | 'mxn' | 'myr' | 'ngn' | 'nok' | 'nzd' | 'php' | 'pkr' | 'pln' | 'rub' | 'sar' | 'sek' | 'sgd' | 'thb' | 'try' | 'twd' | 'uah' | 'vef' | 'vnd' | 'zar' | 'xdr' | 'xag' | 'xau' | 'bits' | 'sats' | 'btc' | 'eth' | 'ltc' | 'bch' | 'bnb' | 'eos' | 'xrp' | 'xlm' | 'link' | 'dot' | 'yfi'
  /** Where the coin is a supported token: its contract by CoinGecko's platform. Additive */
  platforms: Record<string, string>
}

export type GetDepositStatusResponse = {
  vaultAddress: Address
  userAddress: Address
  chainId: ChainId
  /** What can be done now: wait, claim, cancel once more, or nothing */
  status: 'pending' | 'claimable' | 'cancelled' | 'deposited' | 'no_active_deposit'
  /** The status for people */
  statusDescription: string
  /** In the smallest units of asset and share */
  amounts: {
    /** Assets awaiting settlement */
    pendingDeposit: Amount
    /** Shares ready to claim */
    claimableShares: Amount
    /** Shares in the user wallet */
    currentShares: Amount
    /** Assets of cancelled deposit requests, which another cancel takes back */
    cancelledDeposit: Amount
  }
  /** Its fields are null where the vault does not tell */
  vault: {
    /** The epoch that takes requests now */
    depositEpochId: number | null
    /** Whether the valuation is valid, so that deposits give shares at once */
    isTotalAssetsValid: boolean | null
  }
  /** How long requests wait here; null while fewer than five settlements were seen, and where none can be */
  estimatedSettlement: EstimatedSettlement | null
  /** When to ask again; null when no settlement is awaited */
  nextPollAfterMs: number | null
  /** What the answer rests on: for each chain that was read, the block, and how many hosts told it */
  evidence: Evidence[]
}

export type GetHealthResponse = {
  status: 'ok'
  /** Of the service */
  version: string
}

export type GetPositionResponse = {
  vaultAddress: Address
  /** Display name */
  vaultName: string
  userAddress: Address
  chainId: ChainId
  /** Percent a year with two decimals; "0.00" where it is not known, which `annualYield` tells apart */
  apy: string
  /** The yield as `apy` of the vaults has it; null where none is known */
  annualYield: {
    /** Percent a year with two decimals, by the growth of the share price */
    value: string
    /** Days between the two prices, with two decimals: about seven; less while the first known price is younger; more where the price before was known long ago */
    days: number
    /** The time of the later price */
    asOf: Timestamp
  } | null
  /** Of the vault's asset */
  assetSymbol: string
  /** Of the vault's asset */
  assetDecimals: number
  /** Decimals of the share token */
  shareDecimals: number
  /** What one whole share is worth, in the asset's smallest unit */
  sharePrice: Amount
  /** All deposits not cancelled, and shares received at their value then, in the asset's smallest unit */
  totalDepositedAssets: Amount
  /** Assets withdrawn, and shares sent away at their value then, in the asset's smallest unit */
  totalWithdrawnAssets: Amount
  /** Shares in the wallet, in the share's smallest unit */
  currentShares: Amount
  /** Everything of the user in the vault, in the asset's smallest unit: pending, in shares, claimable, being redeemed, cancelled and not taken back */
  currentValue: Amount
  /** currentValue + totalWithdrawnAssets - totalDepositedAssets, in the asset's smallest unit; may be negative */
  earnedAssets: string
  /** How many deposits were not cancelled */
  depositCount: number
  startDate: Timestamp
  lastDepositDate: Timestamp
  /** How many deposits are in which state */
  statusBreakdown: {
    /** Awaiting settlement */
    pending: number
    /** Ready to claim */
    claimable: number
    /** Done */
    completed: number
  }
  /** In the smallest units of asset and share */
  amounts: {
    /** Assets awaiting settlement */
    pendingDeposit: Amount
    /** Shares ready to claim */
    claimableShares: Amount
    /** Shares in the wallet */
    currentShares: Amount
    /** Shares awaiting settlement */
    pendingRedeemShares: Amount
    /** Assets ready to claim */
    claimableRedeemAssets: Amount
    /** Assets of cancelled deposit requests, which another cancel takes back */
    cancelledDeposit: Amount
    /** Shares of cancelled redemption requests, which another cancel takes back */
    cancelledRedeemShares: Amount
  }
  /** The vault now */
  vault: {
    /** Internal vault identifier */
    poolId: string
    /** Display name */
    name: string
    /** async: shares come after a settlement */
    type: 'async' | 'sync'
    /** As the list of vaults has it */
    protocol: string
    /** Percent a year with two decimals; "0.00" where it is not known, which `annualYield` tells apart */
    apy: string
    /** The yield as `apy` of the vaults has it; null where none is known */
    annualYield: {
      /** Percent a year with two decimals, by the growth of the share price */
      value: string
      /** Days between the two prices, with two decimals: about seven; less while the first known price is younger; more where the price before was known long ago */
      days: number
      /** The time of the later price */
      asOf: Timestamp
    } | null
    /** Of the vault's asset */
    assetSymbol: string
    /** Of the vault's asset */
    assetDecimals: number
    /** Decimals of the share token */
    shareDecimals: number
    /** What one whole share is worth, in the asset's smallest unit */
    sharePrice: Amount
    /** The epoch that takes requests now; null where the vault does not tell */
    depositEpochId: number | null
    /** Whether the valuation is valid; null where the vault does not tell */
    isTotalAssetsValid: boolean | null
  }
  /** The latest 20 */
  deposits: Deposit[]
  /** Whether there are more deposits than these */
  hasMore: boolean
  /** The last year */
  sharePriceHistory: {
    timestamp: Timestamp
    /** What one whole share is worth, in the asset's smallest unit */
    sharePrice: Amount
  }[]
  /** What the answer rests on: for each chain that was read, the block, and how many hosts told it */
  evidence: Evidence[]
}

export type GetTokenChartResponse = {
  /** Pairs of epoch milliseconds and a price, ascending; the last one is now */
  prices: [number, number][]
  /** May be empty */
  market_caps: [number, number][]
  /** May be empty */
  total_volumes: [number, number][]
  /** Additive */
  currency: 'usd' | 'eur' | 'gbp' | 'chf' | 'jpy' | 'aed' | 'ars' | 'aud' | 'bdt' | 'bhd' | 'bmd' | 'brl' | 'cad' | 'clp' | 'cny' | 'czk' | 'dkk' | 'gel' | 'hkd' | 'huf' | 'idr' | 'ils' | 'inr' | 'krw' | 'kwd' | 'lkr' | 'mmk' | 'mxn' | 'myr' | 'ngn' | 'nok' | 'nzd' | 'php' | 'pkr' | 'pln' | 'rub' | 'sar' | 'sek' | 'sgd' | 'thb' | 'try' | 'twd' | 'uah' | 'vef' | 'vnd' | 'zar' | 'xdr' | 'xag' | 'xau' | 'bits' | 'sats' | 'btc' | 'eth' | 'ltc' | 'bch' | 'bnb' | 'eos' | 'xrp' | 'xlm' | 'link' | 'dot' | 'yfi'
  /** How many days the chart tells of. Additive */
  days: string
  /** Whether these are fewer days than were asked for. Additive */
  truncated: boolean
}

export type GetTransferStatusResponse = TransferStatus & {
  /** Target protocol, if known */
  protocol: string | null
  /** What the answer rests on: for each chain that was read, the block, and how many hosts told it */
  evidence: Evidence[]
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
  /** The token to deposit */
  depositTokenAddress: Address
  /** The share token */
  yieldTokenAddress: Address
  /** async: shares come after a settlement */
  type: 'async' | 'sync'
  /** Whether deposits have an upper limit */
  MaxCap: boolean
  /** Async vaults only */
  protocol?: 'lagoon' | 'erc7540' | undefined
  /** Curator multisig; async vaults only */
  curatorAddress?: Address | undefined
  /** Proposes valuations; async vaults only */
  valuationManager?: Address | undefined
  /** A text for people */
  description: string
  /** Percent with two decimals; "0.00" where it is not known, which `apy` tells apart */
  APY: string
  /** null where no yield is known: there is no earlier price yet, or none at least an hour before */
  apy: {
    /** Percent a year with two decimals, by the growth of the share price */
    value: string
    /** Days between the two prices, with two decimals: about seven; less while the first known price is younger; more where the price before was known long ago */
    days: number
    /** The time of the later price */
    asOf: Timestamp
  } | null
  /** Of the token to deposit */
  asset: {
    /** Symbol */
    symbol: string
    /** Decimals */
    decimals: number
  }
  /** Decimals of the share token */
  shareDecimals: number
  /** Assets under management, in the asset's smallest unit, as of stateAsOf; null where it is not known */
  totalAssets: Amount | null
  /** Async vaults only; left out when never read */
  vaultState?: VaultState | undefined
  /** Whether its code, or its price by more than a tenth between two looks, has changed since an operator confirmed it: deposits then answer `vault_has_changed` until one does so again. Looked at every minute; null where it is not */
  hasChanged: boolean | null
  /** Which block the state is of; null when the vault was never read */
  stateAsOf: StateAsOf | null
  /** What the answer rests on: for each chain that was read, the block, and how many hosts told it */
  evidence: Evidence[]
}

export type GetWithdrawalStatusResponse = {
  vaultAddress: Address
  userAddress: Address
  chainId: ChainId
  /** What can be done now: wait, claim, cancel once more, or nothing */
  status: 'pending' | 'claimable' | 'cancelled' | 'withdrawn' | 'no_active_withdrawal'
  /** The status for people */
  statusDescription: string
  /** In the smallest units of asset and share */
  amounts: {
    /** Shares awaiting settlement */
    pendingRedeemShares: Amount
    /** What a claim pays */
    claimableAssets: Amount
    /** The settled shares that it is paid for */
    claimableShares: Amount
    /** Shares of cancelled redemption requests, which another cancel takes back */
    cancelledRedeemShares: Amount
  }
  /** Of the user's last request; null before there was one, and where the vault does not tell */
  epochId: number | null
  /** The epoch that takes requests now; null where the vault does not tell */
  vault: {
    /** The epoch that takes requests now */
    redeemEpochId: number | null
  }
  /** How long requests wait here; null while fewer than five settlements were seen, and where none can be */
  estimatedSettlement: EstimatedSettlement | null
  /** When to ask again; null when no settlement is awaited */
  nextPollAfterMs: number | null
  /** What the answer rests on: for each chain that was read, the block, and how many hosts told it */
  evidence: Evidence[]
}

export type LinkWalletRequest = {
  /** The text of POST /auth/wallets/init as it is */
  message: string
  /** Hexadecimal for EVM, base58 for Solana */
  signature: string
}

export type ListBalancesResponse = {
  /** Every wallet of the user, once for each chain that it lives on */
  addresses: {
    /** With its EIP-55 checksum, or in base58 on Solana */
    address: string
    chain: ChainKey
  }[]
  /** Of which moment the entries are, by the chain's key. Additive */
  updated_at: Record<string, Timestamp>
  /** Why the entries of a chain are old, incomplete or missing, by the chain's key. Additive */
  errors?: Record<string, string> | undefined
  /** By the chain's key: the coin of each chain that the user has a wallet for, and every token held there */
  tokens: Record<string, Balance[]>
  /** Know your customer */
  kyc: {
    /** How far the check of the user's identity is */
    status: 'none' | 'pending' | 'approved' | 'rejected' | 'expired'
  }
  /** What is left of the network fees that are paid for the user, in the currency */
  smartgaz: number
  /** Whether the rate of the currency is known; without it smartgaz is 0. Additive */
  smartgaz_available: boolean
  /** SOL that must stay in an account on Solana and cannot be spent */
  solana_rent: number
}

export type ListCoinsResponse = ({
  /** The chain's own coin has 0xEeee…EEeE, on Solana So11…1112 */
  contract_address: string
  /** Solana has 1151111081099710 */
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
  /** For GET /portfolio-indexor/markets/coins/{id}; null when unknown. Additive */
  id: string | null
  /** Null when unknown. Additive */
  current_price: number | null
  /** Of the coin on all chains; null when unknown. Additive */
  market_cap: number | null
  /** Of the last 24 hours; null when unknown. Additive */
  total_volume: number | null
  /** In the currency; null when unknown. Additive */
  price_change_percentage_24h: number | null
})[]

export type ListCredentialsResponse = {
  credentials: Credential[]
}

export type ListDepositsResponse = {
  userAddress: Address
  /** All that match, on whatever page */
  totalRecords: number
  /** Whether there is another page */
  hasMore: boolean
  /** Gives the next page; null on the last one */
  nextCursor: string | null
  /** By chain id, why vaults of that chain are left out; the chain may be readable and the events of one vault not */
  errors?: Record<string, string> | undefined
  /** What the answer rests on: for each chain that was read, the block, and how many hosts told it */
  evidence: Evidence[]
  deposits: Deposit[]
}

export type ListEventsResponse = {
  /** In the order of `sequence`. An empty list: there are no more events for now. A list shorter than `limit` is not the last one */
  events: WebhookEvent[]
}

export type ListGainersAndLosersResponse = {
  /** At most 30, the largest gain first */
  top_gainers: ({
    /** By CoinGecko */
    id: string
    /** Symbol */
    symbol: string
    /** Name */
    name: string
    /** May be empty */
    image: string
    /** 1 for the largest; null when unknown */
    market_cap_rank: number | null
    /** The same as `<currency>`. Additive */
    current_price: number
    /** The same as `<currency>_24h_change`. Additive */
    price_change_percentage_24h: number
    [name: string]: unknown
  })[]
  /** At most 30, the largest loss first */
  top_losers: ({
    /** By CoinGecko */
    id: string
    /** Symbol */
    symbol: string
    /** Name */
    name: string
    /** May be empty */
    image: string
    /** 1 for the largest; null when unknown */
    market_cap_rank: number | null
    /** The same as `<currency>`. Additive */
    current_price: number
    /** The same as `<currency>_24h_change`. Additive */
    price_change_percentage_24h: number
    [name: string]: unknown
  })[]
}

export type ListNFTsResponse = {
  /** Every wallet of the user, once for each chain that it lives on */
  addresses: {
    /** With its EIP-55 checksum, or in base58 on Solana */
    address: string
    chain: ChainKey
  }[]
  /** Of which moment the entries are, by the chain's key. Additive */
  updated_at: Record<string, Timestamp>
  /** Why the entries of a chain are old, incomplete or missing, by the chain's key. Additive */
  errors?: Record<string, string> | undefined
  /** By the chain's key */
  nfts: Record<string, NftCollection[]>
}

export type ListPositionsResponse = {
  userAddress: Address
  /** How many there are */
  totalRecords: number
  positions: Position[]
  /** By chain id, why vaults of that chain are left out; the chain may be readable and the events of one vault not */
  errors?: Record<string, string> | undefined
  /** What the answer rests on: for each chain that was read, the block, and how many hosts told it */
  evidence: Evidence[]
}

export type ListSessionsResponse = {
  /** At most 20: one more login ends the oldest */
  sessions: ({
    /** Ends the session with DELETE /auth/sessions/{id} */
    id: string
    /** As the login told it; null where it did not */
    platform: 'web' | 'ios' | 'android' | null
    createdAt: Timestamp
    expiresAt: Timestamp
    /** Whether it is that of this request */
    isCurrent: boolean
  })[]
}

export type ListVaultsResponse = {
  success: true
  data: Vault[]
  /** All that match, on whatever page */
  totalRecords: number
  /** Whether there is another page */
  hasMore: boolean
  /** Gives the next page; null on the last one */
  nextCursor: string | null
  /** What the answer rests on: for each chain that was read, the block, and how many hosts told it */
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
  /** All that match, on whatever page */
  totalRecords: number
  /** Whether there is another page */
  hasMore: boolean
  /** Gives the next page; null on the last one */
  nextCursor: string | null
  /** By chain id, why vaults of that chain are left out; the chain may be readable and the events of one vault not */
  errors?: Record<string, string> | undefined
  /** What the answer rests on: for each chain that was read, the block, and how many hosts told it */
  evidence: Evidence[]
  withdrawals: Withdrawal[]
}

/** A new credential to log in with */
export type NewFirstFactor = {
  credentialKind: 'Fido2'
  /** What the authenticator made */
  credentialInfo: {
    /** base64url of at most 1023 bytes */
    credId: string
    /** The client data as signed, in base64url */
    clientData: string
    /** What the authenticator or the key made of the challenge, in base64url */
    attestationData: string
    /** Sent by some clients, and not looked at */
    transports?: string[] | null | undefined
  }
  /** What its user calls it; the list has null unless given */
  credentialName?: string | null | undefined
} | {
  credentialKind: 'Key'
  /** The public part of the key, with a signature that proves it */
  credentialInfo: {
    /** base64url of 32 bytes */
    credId: string
    /** The client data as signed, in base64url */
    clientData: string
    /** What the authenticator or the key made of the challenge, in base64url */
    attestationData: string
  }
  /** What its user calls it; the list has null unless given */
  credentialName?: string | null | undefined
} | {
  credentialKind: 'Password'
  /** The password as typed */
  credentialInfo: {
    /** 8 to 256 characters */
    password: string
  }
  /** What its user calls it; the list has null unless given */
  credentialName?: string | null | undefined
} | {
  credentialKind: 'PasswordProtectedKey'
  /** The public part of the key, with a signature that proves it */
  credentialInfo: {
    /** base64url of 32 bytes */
    credId: string
    /** The client data as signed, in base64url */
    clientData: string
    /** What the authenticator or the key made of the challenge, in base64url */
    attestationData: string
  }
  /** Kept as it is; it cannot be read here */
  encryptedPrivateKey: string
  /** What its user calls it; the list has null unless given */
  credentialName?: string | null | undefined
}

/** A new key for the day on which all others are lost */
export type NewRecoveryKey = {
  credentialKind: 'RecoveryKey'
  /** The public part of the key, with a signature that proves it */
  credentialInfo: {
    /** base64url of 32 bytes */
    credId: string
    /** The client data as signed, in base64url */
    clientData: string
    /** What the authenticator or the key made of the challenge, in base64url */
    attestationData: string
  }
  /** Kept as it is; it cannot be read here */
  encryptedPrivateKey?: string | null | undefined
  /** What its user calls it; the list has null unless given */
  credentialName?: string | null | undefined
}

/** A new credential that is needed besides */
export type NewSecondFactor = {
  credentialKind: 'Fido2'
  /** What the authenticator made */
  credentialInfo: {
    /** base64url of at most 1023 bytes */
    credId: string
    /** The client data as signed, in base64url */
    clientData: string
    /** What the authenticator or the key made of the challenge, in base64url */
    attestationData: string
    /** Sent by some clients, and not looked at */
    transports?: string[] | null | undefined
  }
  /** What its user calls it; the list has null unless given */
  credentialName?: string | null | undefined
} | {
  credentialKind: 'Key'
  /** The public part of the key, with a signature that proves it */
  credentialInfo: {
    /** base64url of 32 bytes */
    credId: string
    /** The client data as signed, in base64url */
    clientData: string
    /** What the authenticator or the key made of the challenge, in base64url */
    attestationData: string
  }
  /** What its user calls it; the list has null unless given */
  credentialName?: string | null | undefined
} | {
  credentialKind: 'Totp'
  /** A code of the otpUrl, which shows that the authenticator has it */
  credentialInfo: {
    /** The six digits that the authenticator shows now */
    otpCode: string
  }
  /** What its user calls it; the list has null unless given */
  credentialName?: string | null | undefined
} | {
  credentialKind: 'PasswordProtectedKey'
  /** The public part of the key, with a signature that proves it */
  credentialInfo: {
    /** base64url of 32 bytes */
    credId: string
    /** The client data as signed, in base64url */
    clientData: string
    /** What the authenticator or the key made of the challenge, in base64url */
    attestationData: string
  }
  /** Kept as it is; it cannot be read here */
  encryptedPrivateKey: string
  /** What its user calls it; the list has null unless given */
  credentialName?: string | null | undefined
}

/** What a user has of a collection; null is unknown */
export type NftCollection = {
  /** EIP-55 checksummed, or base58 on Solana: the collection, else the asset itself */
  contract_address: string
  /** As the collection calls itself; may be empty */
  contract_name: string
  /** As the collection calls itself; may be empty */
  contract_ticker_symbol: string
  /** erc721, erc1155; metaplex on Solana */
  supports_erc: string[]
  /** The chain's key */
  chainName: string
  /** Whether it looks like spam */
  is_spam: boolean
  /** How many there are; nft_data can have fewer */
  balance: Amount
  type: 'nft'
  /** When one of them came or went */
  last_transfered_at: string | null
  /** In US dollars */
  floor_price_quote: number | null
  /** In the chain's coin */
  floor_price_native_quote: number | null
  /** Those that are told */
  nft_data: ({
    /** The token's number, or the asset's address on Solana */
    token_id: string
    /** Where its description is */
    token_url: string | null
    /** Who had it first */
    original_owner: string | null
    /** The wallet that has it */
    current_owner: string
    /** What its maker tells of it */
    external_data: {
      /** As its maker calls it */
      name: string | null
      /** As its maker describes it */
      description: string | null
      /** The picture */
      image: string | null
      /** The picture, 256 pixels wide */
      image_256: string | null
      /** The picture, 512 pixels wide */
      image_512: string | null
      /** The picture, 1024 pixels wide */
      image_1024: string | null
      /** A film, a sound or a page */
      animation_url: string | null
      /** Its page */
      external_url: string | null
      /** Its traits */
      attributes: {
        /** Which trait */
        trait_type: string
        /** What it is */
        value: string
      }[]
    } | null
  })[]
}

/** What a user put into a vault, took out, has there and earned */
export type Position = {
  vaultAddress: Address
  /** Display name */
  vaultName: string
  userAddress: Address
  chainId: ChainId
  /** Percent a year with two decimals; "0.00" where it is not known, which `annualYield` tells apart */
  apy: string
  /** The yield as `apy` of the vaults has it; null where none is known */
  annualYield: {
    /** Percent a year with two decimals, by the growth of the share price */
    value: string
    /** Days between the two prices, with two decimals: about seven; less while the first known price is younger; more where the price before was known long ago */
    days: number
    /** The time of the later price */
    asOf: Timestamp
  } | null
  /** Of the vault's asset */
  assetSymbol: string
  /** Of the vault's asset */
  assetDecimals: number
  /** Decimals of the share token */
  shareDecimals: number
  /** What one whole share is worth, in the asset's smallest unit */
  sharePrice: Amount
  /** All deposits not cancelled, and shares received at their value then, in the asset's smallest unit */
  totalDepositedAssets: Amount
  /** Assets withdrawn, and shares sent away at their value then, in the asset's smallest unit */
  totalWithdrawnAssets: Amount
  /** Shares in the wallet, in the share's smallest unit */
  currentShares: Amount
  /** Everything of the user in the vault, in the asset's smallest unit: pending, in shares, claimable, being redeemed, cancelled and not taken back */
  currentValue: Amount
  /** currentValue + totalWithdrawnAssets - totalDepositedAssets, in the asset's smallest unit; may be negative */
  earnedAssets: string
  /** How many deposits were not cancelled */
  depositCount: number
  startDate: Timestamp
  lastDepositDate: Timestamp
  /** How many deposits are in which state */
  statusBreakdown: {
    /** Awaiting settlement */
    pending: number
    /** Ready to claim */
    claimable: number
    /** Done */
    completed: number
  }
}

export type PrepareCancellationRequest = {
  /** Vault contract */
  vaultAddress: Address
  /** The user's wallet */
  userAddress: Address
  /** Which kind of request */
  kind?: 'deposit' | 'withdrawal' | null | undefined
  /** Needed only where two chains have a vault with this address */
  chainId?: ChainId | null | undefined
}

export type PrepareCancellationResponse = {
  /** Always empty */
  approval: Transaction[]
  /** Send these after the approvals are confirmed, in order; between chains, the last one is the transfer, whose hash has the status */
  operations: Transaction[]
  /** All of these, in order, as one parameter of `wallet_sendCalls` (EIP-5792) */
  calls: WalletCalls
  /** The one transaction as an EIP-681 link; null where there are several, or no link can say it */
  link: string | null
  /** `lagoon` or `erc7540` or `erc4626` */
  protocol: string
  /** The vault's */
  chainId: ChainId
  /** Gas units of all transactions together */
  estimatedGas: Amount
  /** Requests are where their vault is */
  isCrossChain: false
  simulation: Simulation
  /** What the answer rests on: for each chain that was read, the block, and how many hosts told it */
  evidence: Evidence[]
  /** True when what comes back has to be taken by another cancellation, later */
  isAsync: boolean
  /** What comes back: a deposit's assets, a withdrawal's shares */
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
  /** Which kind of request */
  kind?: 'deposit' | 'withdrawal' | null | undefined
  /** Needed only where two chains have a vault with this address */
  chainId?: ChainId | null | undefined
  /** Only where the assets of a withdrawal are wanted on another chain, at the user's own address there */
  dstChainId?: number | null | undefined
  /** Required with dstChainId: the same asset there, by its `coinKey` in `GET /portfolio-indexor/markets` (USDC.e is not USDC; on BNB Smart Chain WETH is ETH). Where that is the chain's wrapped coin, a plain account gets the coin itself */
  dstToken?: Address | null | undefined
}

export type PrepareClaimResponse = {
  /** Send these first */
  approval: Transaction[]
  /** Send these after the approvals are confirmed, in order; between chains, the last one is the transfer, whose hash has the status */
  operations: Transaction[]
  /** All of these, in order, as one parameter of `wallet_sendCalls` (EIP-5792) */
  calls: WalletCalls
  /** The one transaction as an EIP-681 link; null where there are several, or no link can say it */
  link: string | null
  /** `lagoon` or `erc7540` or `erc4626` */
  protocol: string
  /** The vault's */
  chainId: ChainId
  /** Gas units of all transactions together */
  estimatedGas: Amount
  /** Whether the last transaction is a transfer to another chain */
  isCrossChain: boolean
  simulation: Simulation
  /** What the answer rests on: for each chain that was read, the block, and how many hosts told it */
  evidence: Evidence[]
  isAsync: true
  /** Of a deposit, the assets that become shares; of a withdrawal, the shares that become assets */
  claimable: {
    /** In the asset's smallest unit */
    assets: Amount
    /** In the share's smallest unit */
    shares: Amount
    /** Cross-chain only: what of the assets stays with the user on the vault's chain, in their smallest unit */
    remainder?: Amount | undefined
  }
  /** Cross-chain only */
  quote?: BridgeQuote | undefined
}

export type PrepareDepositRequest = {
  /** Vault contract */
  vaultAddress: Address
  /** Above zero, in the deposit token's smallest unit */
  amount: Amount
  /** The user's wallet */
  userAddress: Address
  /** Only for deposits from another chain */
  srcChainId?: number | null | undefined
  /** Required with srcChainId: the same asset there, by its `coinKey` in `GET /portfolio-indexor/markets` (USDC.e is not USDC; on BNB Smart Chain WETH is ETH) */
  srcToken?: Address | null | undefined
  /** Needed only where two chains have a vault with this address */
  chainId?: ChainId | null | undefined
}

export type PrepareDepositResponse = {
  /** Send these first */
  approval: Transaction[]
  /** Send these after the approvals are confirmed, in order; between chains, the last one is the transfer, whose hash has the status */
  operations: Transaction[]
  /** All of these, in order, as one parameter of `wallet_sendCalls` (EIP-5792) */
  calls: WalletCalls
  /** The one transaction as an EIP-681 link; null where there are several, or no link can say it */
  link: string | null
  /** `lagoon` or `erc7540` or `erc4626` */
  protocol: string
  /** The vault's */
  chainId: ChainId
  /** Gas units of all transactions together */
  estimatedGas: Amount
  /** Whether the last transaction is a transfer to another chain */
  isCrossChain: boolean
  simulation: Simulation
  /** What the answer rests on: for each chain that was read, the block, and how many hosts told it */
  evidence: Evidence[]
  /** True when deposits need settlement before shares are available */
  isAsync: boolean
  /** Cross-chain only */
  quote?: BridgeQuote | undefined
}

export type PrepareWithdrawalRequest = {
  /** Vault contract */
  vaultAddress: Address
  /** The user's wallet */
  userAddress: Address
  /** What is to be paid, in the vault asset's smallest unit; this, `shares` or `max` */
  amount?: Amount | null | undefined
  /** Shares to give up, in their smallest unit; this, `amount` or `max` */
  shares?: Amount | null | undefined
  /** Everything; this, `amount` or `shares` */
  max?: true | null | undefined
  /** Needed only where two chains have a vault with this address */
  chainId?: ChainId | null | undefined
  /** Only where the tokens are wanted on another chain, at the user's own address there; the vault must pay at once */
  dstChainId?: number | null | undefined
  /** Required with dstChainId: the same asset there, by its `coinKey` in `GET /portfolio-indexor/markets` (USDC.e is not USDC; on BNB Smart Chain WETH is ETH). Where that is the chain's wrapped coin, a plain account gets the coin itself */
  dstToken?: Address | null | undefined
}

export type PrepareWithdrawalResponse = {
  /** Send these first */
  approval: Transaction[]
  /** Send these after the approvals are confirmed, in order; between chains, the last one is the transfer, whose hash has the status */
  operations: Transaction[]
  /** All of these, in order, as one parameter of `wallet_sendCalls` (EIP-5792) */
  calls: WalletCalls
  /** The one transaction as an EIP-681 link; null where there are several, or no link can say it */
  link: string | null
  /** `lagoon` or `erc7540` or `erc4626` */
  protocol: string
  /** The vault's */
  chainId: ChainId
  /** Gas units of all transactions together */
  estimatedGas: Amount
  /** Whether the last transaction is a transfer to another chain */
  isCrossChain: boolean
  simulation: Simulation
  /** What the answer rests on: for each chain that was read, the block, and how many hosts told it */
  evidence: Evidence[]
  /** True when the vault pays only after a settlement */
  isAsync: boolean
  /** What it comes to */
  withdrawal: {
    /** What leaves the user, in the share's smallest unit */
    shares: Amount
    /** What is paid for them, in the vault asset's smallest unit; null where the vault tells no price now */
    assets: Amount | null
    /** What the vault keeps of what the shares are worth: fees, and a haircut for being paid at once; in the asset's smallest unit; null as `assets` */
    fee: Amount | null
    /** The part of the fee that is the haircut, in the asset's smallest unit */
    haircut: Amount
    /** True where a settlement decides what is paid, at its own price, or no dry run could tell */
    isEstimate: boolean
    /** What settled withdrawals pay besides, which the vault pays along with this one; in the asset's smallest unit */
    claimedAssets: Amount
    /** Cross-chain only: what of all that is paid stays with the user on the vault's chain, in the asset's smallest unit */
    remainder?: Amount | undefined
  }
  /** Cross-chain only */
  quote?: BridgeQuote | undefined
}

/** What the recovery key made of the new credentials */
export type Recovery = {
  kind: 'RecoveryKey'
  /** What it made of the new credentials */
  credentialAssertion: {
    /** base64url of at most 1023 bytes */
    credId: string
    /** The client data as signed, in base64url */
    clientData: string
    /** Of the client data, in base64url */
    signature: string
    /** SHA256, SHA512 or RSA-SHA256, where it is not the usual one of the key */
    algorithm?: string | null | undefined
  }
}

export type RegisterWebhookRequest = {
  /** An https URL on port 443, at most 2,048 characters long */
  url: string
  /** The types of events that are sent to it. Left out: all, including types that are added later */
  types?: ('deposit.pending' | 'deposit.claimable' | 'deposit.completed' | 'deposit.cancelled' | 'deposit.reverted' | 'withdrawal.pending' | 'withdrawal.claimable' | 'withdrawal.completed' | 'withdrawal.cancelled' | 'withdrawal.reverted' | 'transfer.completed' | 'transfer.failed' | 'transfer.refunded' | 'transfer.reverted' | 'vault.paused' | 'vault.changed' | 'vault.reverted')[] | null | undefined
  /** final: an event is sent once its block is final. latest: it is sent before that too, with `final: false`, and a `….reverted` event is sent where a reorganisation removes it */
  finality?: 'final' | 'latest' | null | undefined
}

/** The webhook that was registered, with its secret */
export type RegisteredWebhook = {
  /** The id of the webhook; the same URL always has the same one */
  id: string
  /** The URL to which events are sent */
  url: string
  /** The types of events that are sent; null for all, including types that are added later */
  types: ('deposit.pending' | 'deposit.claimable' | 'deposit.completed' | 'deposit.cancelled' | 'deposit.reverted' | 'withdrawal.pending' | 'withdrawal.claimable' | 'withdrawal.completed' | 'withdrawal.cancelled' | 'withdrawal.reverted' | 'transfer.completed' | 'transfer.failed' | 'transfer.refunded' | 'transfer.reverted' | 'vault.paused' | 'vault.changed' | 'vault.reverted')[] | null
  /** final: events are sent when they are final. latest: also before */
  finality: 'final' | 'latest'
  createdAt: Timestamp
  /** The key that signs deliveries, in the format of Standard Webhooks: `whsec_` and base64. It is shown here once: store it */
  secret: string
}

/** For whom passkeys are */
export type RelyingPartyEntity = {
  /** A domain */
  id: string
  /** What people call it */
  name: string
}

export type RequestedDepositData = {
  /** The vault's chain */
  chainId: ChainId
  /** Vault contract */
  vaultAddress: Address
  /** The account that the deposit or the withdrawal belongs to */
  userAddress: Address
  /** The transaction that caused it; null for a settlement of a vault that emits no event for it, where the service read it from the vault */
  transactionHash: TransactionHash | null
  /** The block of that transaction, or the block at which the vault was read */
  blockNumber: number
  /** The deposits that the event is about: their ids in `GET …/deposits`. At most 100: where there are more, the rest are left out, and the amounts still count all of them */
  depositIds: string[]
  /** In the asset's smallest unit; null where it is not known */
  assets: Amount | null
  /** In the share's smallest unit; null where it is not known */
  shares: Amount | null
  /** How long requests waited in the vault's last settlements; null for a vault with fewer than five */
  estimatedSettlement: EstimatedSettlement | null
}

export type RequestedWithdrawalData = {
  /** The vault's chain */
  chainId: ChainId
  /** Vault contract */
  vaultAddress: Address
  /** The account that the deposit or the withdrawal belongs to */
  userAddress: Address
  /** The transaction that caused it; null for a settlement of a vault that emits no event for it, where the service read it from the vault */
  transactionHash: TransactionHash | null
  /** The block of that transaction, or the block at which the vault was read */
  blockNumber: number
  /** The withdrawals that the event is about: their ids in `GET …/withdrawals`. At most 100: where there are more, the rest are left out, and the amounts still count all of them */
  withdrawalIds: string[]
  /** In the asset's smallest unit; null where it is not known */
  assets: Amount | null
  /** In the share's smallest unit; null where it is not known */
  shares: Amount | null
  /** How long requests waited in the vault's last settlements; null for a vault with fewer than five */
  estimatedSettlement: EstimatedSettlement | null
}

export type RevertedData = {
  /** The vault's chain */
  chainId: ChainId
  /** Vault contract */
  vaultAddress: Address
  /** The `id` of the event that is taken back */
  eventId: string
}

export type RotateWebhookSecretResponse = {
  /** The id of the webhook */
  id: string
  /** The key that signs deliveries, in the format of Standard Webhooks: `whsec_` and base64. It is shown here once: store it */
  secret: string
  /** Until then deliveries are signed with the previous secret too */
  previousUntil: Timestamp
}

export type SearchCoinsRequest = {
  /** A part of the name or of the symbol of a coin: 3 to 100 characters */
  search: string
}

export type SearchCoinsResponse = ({
  /** By CoinGecko; GET /portfolio-indexor/markets/coins/{id} takes it */
  id: string
  /** Name */
  name: string
  /** Symbol */
  symbol: string
  /** Symbol */
  api_symbol: string
  /** 1 for the largest; null when unknown */
  market_cap_rank: number | null
  /** A small picture; may be empty */
  thumb: string
  /** A large picture; may be empty */
  large: string
  /** Null when unknown. Additive */
  current_price: number | null
  /** Null when unknown. Additive */
  price_change_percentage_24h: number | null
})[]

/** What a second factor made of the challenge */
export type SecondFactor = {
  kind: 'Fido2'
  /** What it made of the challenge */
  credentialAssertion: {
    /** base64url of at most 1023 bytes */
    credId: string
    /** The client data as signed, in base64url */
    clientData: string
    /** As the authenticator gave it, in base64url */
    authenticatorData: string
    /** Of the client data, in base64url */
    signature: string
    /** As the authenticator gave it, in base64url */
    userHandle?: string | '' | null | null | undefined
    /** Sent by some clients, and not looked at */
    algorithm?: string | null | undefined
  }
} | {
  /** A key of the client, in the open or opened by a password */
  kind: 'Key' | 'PasswordProtectedKey'
  /** What it made of the challenge */
  credentialAssertion: {
    /** base64url of at most 1023 bytes */
    credId: string
    /** The client data as signed, in base64url */
    clientData: string
    /** Of the client data, in base64url */
    signature: string
    /** SHA256, SHA512 or RSA-SHA256, where it is not the usual one of the key */
    algorithm?: string | null | undefined
  }
} | {
  kind: 'Totp'
  /** The six digits that the authenticator shows now */
  otpCode: string
}

/** How a dry run of the transactions went on the latest state */
export type Simulation = {
  status: 'success'
} | {
  /** The chain cannot simulate; estimatedGas is an upper estimate */
  status: 'unavailable'
} | {
  /** The transactions would fail now; estimatedGas is an upper estimate */
  status: 'reverted'
  /** The contract's own error, such as ERC20InsufficientBalance */
  reason: string
}

export type StartAddingCredentialResponse = {
  /** What new credentials are made by, in the words of WebAuthn */
  publicKeyCredentialCreationOptions: {
    attestation: 'none'
    /** What a passkey has to be */
    authenticatorSelection: {
      requireResidentKey: true
      residentKey: 'required'
      userVerification: 'required'
    }
    /** base64url of 32 random bytes */
    challenge: string
    /** Passkeys that the user has already */
    excludeCredentials: CredentialDescriptor[]
    /** The secret of one-time codes as an otpauth URL */
    otpUrl: string
    /** Which signatures are taken, the first one best */
    pubKeyCredParams: {
      type: 'public-key'
      /** By its COSE number */
      alg: number
    }[]
    rp: RelyingPartyEntity
    /** What credentials can be */
    supportedCredentialKinds: {
      /** Of which one is needed */
      firstFactor: ('Fido2' | 'Key' | 'Password' | 'Totp' | 'RecoveryKey' | 'PasswordProtectedKey')[]
      /** Which a password needs besides */
      secondFactor: ('Fido2' | 'Key' | 'Password' | 'Totp' | 'RecoveryKey' | 'PasswordProtectedKey')[]
    }
    /** Hands the new credentials over; good once, within ten minutes */
    temporaryAuthenticationToken: string
    /** Under what the authenticator keeps a passkey */
    user: {
      /** What the authenticator shows beside the passkey */
      displayName: string
      /** base64url of 32 bytes */
      id: string
      /** The e-mail address in lower case */
      name: string
    }
  }
  /** Good once, within ten minutes, for this user */
  temporaryAuthenticationToken: string
  /** What the credentials that the user has sign, as for a login */
  confirmation: {
    /** The same as in the options */
    challenge: string
    rp: RelyingPartyEntity
    userVerification: 'required'
    /** What the user has */
    allowCredentials: {
      /** Passkeys */
      webauthn: CredentialDescriptor[]
      /** Keys */
      key: CredentialDescriptor[]
      /** Keys that a password opens */
      passwordProtectedKey: CredentialDescriptor[]
    }
  }
}

export type StartLinkingWalletRequest = {
  /** With its EIP-55 checksum or in one case, or in base58 for Solana */
  address: string
  /** Of which kind of chains */
  chain: 'evm' | 'solana'
  /** Where a contract account is deployed, or will be; plain accounts need none */
  chainId?: ChainId | null | undefined
}

export type StartLinkingWalletResponse = {
  /** EIP-4361 for EVM, the same idea for Solana */
  message: string
  expiresAt: Timestamp
}

export type StartLoginRequest = {
  /** Left out, a passkey tells who logs in */
  email?: string | null | undefined
}

export type StartLoginResponse = {
  /** base64url of 32 random bytes */
  challenge: string
  /** Good for one try, within ten minutes */
  challengeIdentifier: string
  rp: RelyingPartyEntity
  userVerification: 'required'
  attestation: 'none'
  /** The same for every e-mail address */
  supportedCredentialKinds: ({
    /** Of credentials */
    kind: 'Fido2' | 'Key' | 'PasswordProtectedKey' | 'Password' | 'Totp'
    /** As which it can log in */
    factor: 'first' | 'second' | 'either'
    /** Whether it takes another one besides */
    requiresSecondFactor: boolean
  })[]
  /** The same number of keys for every e-mail address, known or not; some are dummies */
  allowCredentials: {
    /** Always empty: passkeys are found without */
    webauthn: CredentialDescriptor[]
    /** Keys */
    key: CredentialDescriptor[]
    /** Keys that a password opens */
    passwordProtectedKey: CredentialDescriptor[]
  }
}

export type StartRecoveryRequest = {
  /** E-mail address */
  email: string
  /** The id of the recovery key, from the recovery kit: base64url of 32 bytes */
  credentialId?: string | null | undefined
}

export type StartRecoveryResponse = {
  /** What new credentials are made by, in the words of WebAuthn */
  publicKeyCredentialCreationOptions: {
    attestation: 'none'
    /** What a passkey has to be */
    authenticatorSelection: {
      requireResidentKey: true
      residentKey: 'required'
      userVerification: 'required'
    }
    /** base64url of 32 random bytes */
    challenge: string
    /** Always empty */
    excludeCredentials: CredentialDescriptor[]
    /** The secret of one-time codes as an otpauth URL */
    otpUrl: string
    /** Which signatures are taken, the first one best */
    pubKeyCredParams: {
      type: 'public-key'
      /** By its COSE number */
      alg: number
    }[]
    rp: RelyingPartyEntity
    /** What credentials can be */
    supportedCredentialKinds: {
      /** Of which one is needed */
      firstFactor: ('Fido2' | 'Key' | 'Password' | 'Totp' | 'RecoveryKey' | 'PasswordProtectedKey')[]
      /** Which a password needs besides */
      secondFactor: ('Fido2' | 'Key' | 'Password' | 'Totp' | 'RecoveryKey' | 'PasswordProtectedKey')[]
    }
    /** Hands the new credentials over; good once, within ten minutes */
    temporaryAuthenticationToken: string
    /** Under what the authenticator keeps a passkey */
    user: {
      /** What the authenticator shows beside the passkey */
      displayName: string
      /** base64url of 32 bytes */
      id: string
      /** The e-mail address in lower case */
      name: string
    }
    /** One, whether the user is known or not */
    allowedRecoveryCredentials: ({
      /** The credentialId; without one a dummy */
      id: string
      /** The encryptedPrivateKey of the user's recovery key with the credentialId, else a dummy; null without one */
      encryptedRecoveryKey: string | null
    })[]
  }
  /** Good once, within ten minutes */
  temporaryAuthenticationToken: string
}

export type StartRegistrationRequest = {
  /** E-mail address */
  email: string
}

export type StartRegistrationResponse = {
  /** What new credentials are made by, in the words of WebAuthn */
  publicKeyCredentialCreationOptions: {
    attestation: 'none'
    /** What a passkey has to be */
    authenticatorSelection: {
      requireResidentKey: true
      residentKey: 'required'
      userVerification: 'required'
    }
    /** base64url of 32 random bytes */
    challenge: string
    /** Always empty */
    excludeCredentials: {
      /** Never */
      type: string
      /** Never */
      id: number
    }[]
    /** The secret of one-time codes as an otpauth URL */
    otpUrl: string
    /** Which signatures are taken, the first one best */
    pubKeyCredParams: {
      type: 'public-key'
      /** By its COSE number */
      alg: number
    }[]
    rp: RelyingPartyEntity
    /** What credentials can be */
    supportedCredentialKinds: {
      /** Of which one is needed */
      firstFactor: ('Fido2' | 'Key' | 'Password' | 'Totp' | 'RecoveryKey' | 'PasswordProtectedKey')[]
      /** Which a password needs besides */
      secondFactor: ('Fido2' | 'Key' | 'Password' | 'Totp' | 'RecoveryKey' | 'PasswordProtectedKey')[]
    }
    /** Hands the new credentials over; good once, within ten minutes */
    temporaryAuthenticationToken: string
    /** Under what the authenticator keeps a passkey */
    user: {
      /** What the authenticator shows beside the passkey */
      displayName: string
      /** base64url of 32 bytes */
      id: string
      /** The e-mail address in lower case */
      name: string
    }
  }
  /** Good once, within ten minutes */
  temporaryAuthenticationToken: string
}

/** Which block a state is of */
export type StateAsOf = {
  /** Of the chain */
  blockNumber: number
  /** The time of that block */
  timestamp: Timestamp
  /** Whether it is an old one, because the chain cannot be read now */
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

/** A transfer between chains arrived, and did what it was sent for. Sent once for each transfer. The deposit into the vault that it ends with, or the withdrawal that it began with, has `deposit.…` or `withdrawal.…` events of its own. Nothing follows. */
export type TransferCompletedEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'transfer.completed'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: TransferData
}

export type TransferData = {
  /** The vault's chain; those of the transfer are `srcChain` and `dstChain` */
  chainId: ChainId
  /** The vault that the transfer deposits into. Where it deposits into none: the vault that paid what was sent, in the same transaction or as the last one to pay the account before it, at least as much as was sent within a day. What no vault of yours paid is no event */
  vaultAddress: Address
  /** The account that receives the shares of a deposit, or that withdrew; null where it is not known */
  userAddress: Address | null
} & TransferStatus

/** A transfer between chains failed: `reason` says why, and where the money is. Sent once it is certain. Nothing follows. */
export type TransferFailedEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'transfer.failed'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: TransferData
}

/** A transfer between chains was not delivered in time, and the bridge paid it back on the chain where it began. Sent once the refund is found. Nothing follows. */
export type TransferRefundedEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'transfer.refunded'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: TransferData
}

/** A reorganisation of the chain removed what an earlier event of this kind, with `final: false`, reported. Sent to webhooks with `finality: "latest"`, in place of the event with `final: true`. What happens again in another block is a new event. */
export type TransferRevertedEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'transfer.reverted'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: RevertedData
}

export type TransferStatus = {
  /** The source transaction hash */
  depositId: TransactionHash
  /** pending: not mined yet. bridging: the deposit into the bridge is there; not terminal, but with destination_not_followed. completed: terminal. failed: terminal, but with expired */
  status: 'pending' | 'bridging' | 'completed' | 'failed'
  /** The status for people */
  statusDescription: string
  /** Why it failed, or why nothing more will be told of it; null for all else. source_reverted: the source transaction reverted, nothing was sent. no_deposit_in_transaction: it holds no deposit into the bridge with this index; where that is 0, nothing was sent. source_dropped: it can no longer be mined, for another one took its nonce; nothing was sent. expired: nobody filled it in time, and its refund on the source chain is awaited or searched for; goes on to refunded or refund_not_found. refunded: the bridge paid it back on the source chain. refund_not_found: two weeks after its deadline no refund was found that is surely its own. destination_action_failed: it arrived, the deposit into the vault did not succeed, and the tokens were sent to the account that the transfer names for this case. destination_not_followed: its status stays bridging, for it goes to a chain that this service does not read */
  reason: 'source_reverted' | 'no_deposit_in_transaction' | 'source_dropped' | 'expired' | 'refunded' | 'refund_not_found' | 'destination_action_failed' | 'destination_not_followed' | null
  /** What happens on the destination: a deposit into a vault, or none, when the funds are only delivered; null until the deposit into the bridge is seen */
  action: 'deposit' | 'none' | null
  /** Whether nothing more is expected: stop polling */
  terminal: boolean
  /** Of the transfer: whether its blocks are final on both chains, after which it is told the same for ever; only where terminal, mostly some minutes later */
  final: boolean
  /** When to ask again; null when terminal */
  nextPollAfterMs: number | null
  srcChain: ChainName
  /** Null until the deposit into the bridge is seen */
  dstChain: ChainName | null
  /** In the source token's smallest unit */
  inputAmount: Amount | null
  /** What arrived, in the destination token's smallest unit; when the deposit on the destination failed, what the user received as tokens */
  outputAmount: Amount | null
  /** When it was sent, when it arrived, and when its action was done; null before */
  timestamps: {
    initiated: Timestamp | null
    bridged: Timestamp | null
    completed: Timestamp | null
  }
  /** The one that sent, and the one that filled it on the other chain; null before */
  transactions: {
    source: TransactionHash
    fill: TransactionHash | null
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
  /** The token to deposit */
  depositTokenAddress: Address
  /** The share token */
  yieldTokenAddress: Address
  /** async: shares come after a settlement */
  type: 'async' | 'sync'
  /** Whether deposits have an upper limit */
  MaxCap: boolean
  /** Async vaults only */
  protocol?: 'lagoon' | 'erc7540' | undefined
  /** Curator multisig; async vaults only */
  curatorAddress?: Address | undefined
  /** Proposes valuations; async vaults only */
  valuationManager?: Address | undefined
  /** A text for people */
  description: string
  /** Percent with two decimals; "0.00" where it is not known, which `apy` tells apart */
  APY: string
  /** null where no yield is known: there is no earlier price yet, or none at least an hour before */
  apy: {
    /** Percent a year with two decimals, by the growth of the share price */
    value: string
    /** Days between the two prices, with two decimals: about seven; less while the first known price is younger; more where the price before was known long ago */
    days: number
    /** The time of the later price */
    asOf: Timestamp
  } | null
  /** Of the token to deposit */
  asset: {
    /** Symbol */
    symbol: string
    /** Decimals */
    decimals: number
  }
  /** Decimals of the share token */
  shareDecimals: number
  /** Assets under management, in the asset's smallest unit, as of stateAsOf; null where it is not known */
  totalAssets: Amount | null
  /** Async vaults only; left out when never read */
  vaultState?: VaultState | undefined
  /** Whether its code, or its price by more than a tenth between two looks, has changed since an operator confirmed it: deposits then answer `vault_has_changed` until one does so again. Looked at every minute; null where it is not */
  hasChanged: boolean | null
  /** Which block the state is of; null when the vault was never read */
  stateAsOf: StateAsOf | null
}

/** A vault differs from what was checked: its code changed, or its share price moved by more than a tenth. Deposits answer 409 `vault_has_changed` from now on. Sent once for each change. No event says that an operator confirmed it: `hasChanged` of the vault does. */
export type VaultChangedEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'vault.changed'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: VaultData
}

export type VaultData = {
  /** The vault's chain */
  chainId: ChainId
  /** Vault contract */
  vaultAddress: Address
  /** The block at which the service first saw it */
  blockNumber: number
}

/** A vault is paused: it takes no deposits and pays nothing out. Sent once for each pause. No event says that it goes on again: `GET …/vault/{vaultAddress}` does. */
export type VaultPausedEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'vault.paused'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: VaultData
}

/** A pause that an earlier `vault.paused` with `final: false` reported has ended before it was final, or a reorganisation of the chain removed it. Sent to webhooks with `finality: "latest"`, in place of the event with `final: true`. */
export type VaultRevertedEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'vault.reverted'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: RevertedData
}

/** The state of a vault at one block; what is not known is null */
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
  /** What one whole share is worth, in the asset's smallest unit */
  sharePrice: Amount | null
  /** Vault owner */
  owner: Address | null
  /** Curator multisig */
  safe: Address | null
  /** Proposes valuations */
  valuationManager: Address | null
  /** Receives the fees */
  feeReceiver: Address | null
  /** Whether it takes nothing and pays nothing now */
  paused: boolean | null
  /** The contract that holds what waits for settlement */
  pendingSilo: Address | null
  /** Assets waiting for settlement, in the asset's smallest unit */
  pendingDeposits: Amount | null
  /** Shares waiting for redeem settlement, in the share's smallest unit */
  pendingRedeems: Amount | null
  /** False also for versions before 0.5, which have no validity */
  isTotalAssetsValid: boolean | null
  /** The proposed valuation, in the asset's smallest unit; 2^256 - 1 when none is */
  newTotalAssets: Amount | null
  /** Current deposit epoch */
  depositEpochId: number | null
  /** Current redeem epoch */
  redeemEpochId: number | null
  /** The fields that could not be read, which are null; null and not in `missing`: this vault's protocol has no such value */
  missing: string[]
}

/** A wallet that the user has shown to hold */
export type Wallet = {
  /** With its EIP-55 checksum, or in base58 for Solana */
  address: string
  /** Of which kind of chains */
  chain: 'evm' | 'solana'
  linkedAt: Timestamp
}

/** What a wallet takes as the parameter of `wallet_sendCalls` (EIP-5792) */
export type WalletCalls = {
  version: '2.0.0'
  /** Chain to send them on */
  chainId: `0x${string}`
  /** The account that sends them */
  from: Address
  /** True where there are several: all of them are executed, or none */
  atomicRequired: boolean
  /** Approvals first, in the order in which they are executed */
  calls: {
    /** Contract to call */
    to: Address
    /** Encoded calldata */
    data: `0x${string}`
    /** Native coin to send, in its smallest unit */
    value: `0x${string}`
  }[]
}

/** An endpoint of yours to which events are sent, and whether deliveries to it succeed */
export type Webhook = {
  /** The id of the webhook; the same URL always has the same one */
  id: string
  /** The URL to which events are sent */
  url: string
  /** The types of events that are sent; null for all, including types that are added later */
  types: ('deposit.pending' | 'deposit.claimable' | 'deposit.completed' | 'deposit.cancelled' | 'deposit.reverted' | 'withdrawal.pending' | 'withdrawal.claimable' | 'withdrawal.completed' | 'withdrawal.cancelled' | 'withdrawal.reverted' | 'transfer.completed' | 'transfer.failed' | 'transfer.refunded' | 'transfer.reverted' | 'vault.paused' | 'vault.changed' | 'vault.reverted')[] | null
  /** final: events are sent when they are final. latest: also before */
  finality: 'final' | 'latest'
  createdAt: Timestamp
  /** active: events are sent to it. disabled: nothing is sent until a test succeeds */
  status: 'active' | 'disabled'
  /** When it was switched off; null while it is active */
  disabledAt: Timestamp | null
  /** Why it was switched off. gone: it answered 410. failing: no delivery succeeded for three days. Null while it is active */
  disabledReason: 'gone' | 'failing' | null
  /** Since when every delivery has failed, of at least two events, for whatever reason; null while deliveries succeed, or where none of these events waits any more */
  failingSince: Timestamp | null
  delivery: WebhookDelivery
}

/** How deliveries to a webhook go */
export type WebhookDelivery = {
  /** The last delivery of an event that failed, whatever succeeded since; null where none failed; tests are not told here */
  lastFailure: {
    /** When it failed */
    at: Timestamp
    /** Why it was not delivered. not_allowed: the host name leads to an address that is not public. unresolved: the host name has no IPv4 address. connection: the connection was refused or closed. tls: the certificate is not valid. timeout: there was no answer within 5 seconds. redirect: the answer was a redirect, which is not followed. status: the answer was not 2xx. bad_answer: the answer was not HTTP */
    reason: 'not_allowed' | 'unresolved' | 'connection' | 'tls' | 'timeout' | 'redirect' | 'status' | 'bad_answer'
    /** The HTTP status of the answer; null where there was none */
    status: number | null
  } | null
  /** How many events failed and are sent again. While every delivery fails, newer events wait too, and are not counted */
  waiting: number
  /** When the next of these is sent, at the earliest; null where none waits, or it is disabled */
  nextAttemptAt: Timestamp | null
  /** The sequences of events that are sent no more, the newest first, at most 100: they failed ten times, or four where more than 90 waited. `GET /webhooks/events` has them. They are sent again where a test switches a disabled webhook on, and forgotten after 30 days */
  givenUp: number[]
  /** How many more were given up before these: they are not sent again, and `GET /webhooks/events` has them */
  givenUpBefore: number
}

/** Something that happened in a vault of yours; `type` says what */
export type WebhookEvent = DepositPendingEvent | DepositClaimableEvent | DepositCompletedEvent | DepositCancelledEvent | DepositRevertedEvent | WithdrawalPendingEvent | WithdrawalClaimableEvent | WithdrawalCompletedEvent | WithdrawalCancelledEvent | WithdrawalRevertedEvent | TransferCompletedEvent | TransferFailedEvent | TransferRefundedEvent | TransferRevertedEvent | VaultPausedEvent | VaultChangedEvent | VaultRevertedEvent

export type WebhookTest = {
  /** Whether the endpoint answered 2xx within 5 seconds */
  delivered: boolean
  /** The HTTP status of the answer; null where there was none */
  status: number | null
  /** Why it was not delivered. not_allowed: the host name leads to an address that is not public. unresolved: the host name has no IPv4 address. connection: the connection was refused or closed. tls: the certificate is not valid. timeout: there was no answer within 5 seconds. redirect: the answer was a redirect, which is not followed. status: the answer was not 2xx. bad_answer: the answer was not HTTP. Null where it was delivered */
  reason: 'not_allowed' | 'unresolved' | 'connection' | 'tls' | 'timeout' | 'redirect' | 'status' | 'bad_answer' | null
}

/** A test delivery, which tells that the webhook can be reached. Sent when you ask for it by `POST /webhooks/{id}/test`, whatever `types` the webhook has. It has no `sequence` and is in no log: answer 2xx and store nothing. */
export type WebhookTestEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'webhook.test'
  /** When it was sent */
  timestamp: Timestamp
  /** The webhook that is tested */
  data: {
    /** Its id, as `GET /webhooks` lists it */
    webhookId: string
  }
}

/** A withdrawal and what became of its parts */
export type Withdrawal = {
  /** <chainId>-<transactionHash>-<logIndex> */
  withdrawalId: string
  vaultAddress: Address
  /** Display name */
  vaultName: string
  userAddress: Address
  chainId: ChainId
  /** pending while a part of it awaits settlement, else claimable while a part of it can be claimed, else completed when a part of it was paid */
  status: 'pending' | 'claimable' | 'completed' | 'cancelled'
  /** The status for people */
  statusDescription: string
  /** What was redeemed, or asked to be, in the share's smallest unit */
  shares: Amount
  /** What was paid and what can be claimed, in the asset's smallest unit; null while a part of it is pending */
  assets: Amount | null
  /** What became of its parts, in the smallest units of asset and share */
  amounts: {
    /** Awaiting settlement */
    pendingShares: Amount
    /** Settled, and not claimed yet */
    claimableShares: Amount
    /** What those are worth */
    claimableAssets: Amount
    /** Paid out */
    paidShares: Amount
    /** What was paid for those */
    paidAssets: Amount
    /** Taken back, or to be taken back by another cancel */
    cancelledShares: Amount
  }
  /** The vault now */
  vault: {
    /** Percent a year with two decimals; "0.00" where it is not known, which `annualYield` tells apart */
    apy: string
    /** The yield as `apy` of the vaults has it; null where none is known */
    annualYield: {
      /** Percent a year with two decimals, by the growth of the share price */
      value: string
      /** Days between the two prices, with two decimals: about seven; less while the first known price is younger; more where the price before was known long ago */
      days: number
      /** The time of the later price */
      asOf: Timestamp
    } | null
    /** Of the vault's asset */
    assetSymbol: string
    /** Of the vault's asset */
    assetDecimals: number
    /** Decimals of the share token */
    shareDecimals: number
    /** What one whole share is worth, in the asset's smallest unit */
    sharePrice: Amount
  }
  /** The request id; 0 for what was paid at once; null where it is above 2^53 - 1 */
  epochId: number | null
  timestamp: Timestamp
  transactionHash: TransactionHash
  /** The last one that paid a part of it, its own for what was paid at once; null before */
  claimTransactionHash: TransactionHash | null
}

/** A user took a requested withdrawal back before it was settled. Sent when the shares are returned. Follows `withdrawal.pending`; nothing follows. */
export type WithdrawalCancelledEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'withdrawal.cancelled'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: WithdrawalData
}

/** A vault settled a requested withdrawal, or a part of it: its assets can be claimed. Sent at each settlement: `shares` is how much of the request this one settled, and `assets` is null, for the claim decides. Follows `withdrawal.pending`; followed by `withdrawal.completed` once the assets are claimed. */
export type WithdrawalClaimableEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'withdrawal.claimable'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: WithdrawalData
}

/** A user received assets: by a withdrawal that took effect at once, or by a claim. Sent for each of these. A claim follows `withdrawal.claimable`. Nothing follows, but for the next claim of a withdrawal that was claimed in part. */
export type WithdrawalCompletedEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'withdrawal.completed'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: WithdrawalData
}

export type WithdrawalData = {
  /** The vault's chain */
  chainId: ChainId
  /** Vault contract */
  vaultAddress: Address
  /** The account that the deposit or the withdrawal belongs to */
  userAddress: Address
  /** The transaction that caused it; null for a settlement of a vault that emits no event for it, where the service read it from the vault */
  transactionHash: TransactionHash | null
  /** The block of that transaction, or the block at which the vault was read */
  blockNumber: number
  /** The withdrawals that the event is about: their ids in `GET …/withdrawals`. At most 100: where there are more, the rest are left out, and the amounts still count all of them */
  withdrawalIds: string[]
  /** In the asset's smallest unit; null where it is not known */
  assets: Amount | null
  /** In the share's smallest unit; null where it is not known */
  shares: Amount | null
}

/** A user requested a withdrawal from an asynchronous vault: the vault has the shares, and settles the request later. Sent once for each request. Followed by `withdrawal.claimable`, or by `withdrawal.cancelled`. */
export type WithdrawalPendingEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'withdrawal.pending'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: RequestedWithdrawalData
}

/** A reorganisation of the chain removed what an earlier event of this kind, with `final: false`, reported. Sent to webhooks with `finality: "latest"`, in place of the event with `final: true`. What happens again in another block is a new event. */
export type WithdrawalRevertedEvent = {
  /** The same however often the event is delivered or listed: `webhook-id` of each delivery */
  id: string
  type: 'withdrawal.reverted'
  /** When it happened: the time of its block */
  timestamp: Timestamp
  /** The number of the event among all events of the client: 1, 2, 3 and so on */
  sequence: number
  /** Of the event: true once its block is final: finalized by its chain, and on OP Mainnet, Base and Arbitrum One, whose data is on Ethereum, two minutes old. False before that, and for every `….reverted` */
  final: boolean
  /** What happened, and where */
  data: RevertedData
}

/** The HTTP status of each error, by its code. */
export type Errors = {
  /** Invalid JSON body. Send a JSON object with Content-Type: application/json. */
  invalid_json: 400
  /** Unknown field. Remove or correct the fields named in details. */
  unknown_field: 400
  /** Not found. No such route. GET /openapi.json lists them all. */
  not_found: 404
  /** Method not allowed. The route exists, but not with this method; see the Allow header. */
  method_not_allowed: 405
  /** Invalid Content-Digest. Send Content-Digest: sha-256=:<base64 of the SHA-256 of the body>:, or leave it out. */
  invalid_content_digest: 400
  /** Invalid path. Send the path with letters, digits and / . _ ~ - alone, none of them percent-encoded. */
  invalid_path: 400
  /** Payload too large. Send at most 16 KiB. */
  payload_too_large: 413
  /** Missing API key. Send your API key in the x-join-key header. */
  missing_api_key: 401
  /** Invalid API key. The API key was not recognised, has expired or was revoked. */
  invalid_api_key: 401
  /** Missing session. Log in and send the session as Authorization: Bearer <token>. */
  missing_session: 401
  /** Invalid session. The session has expired, was logged out or is of another client. Log in again. */
  invalid_session: 401
  /** Insufficient scope. Your API key does not open this area. Ask your operator for its scope. */
  insufficient_scope: 403
  /** Chain not allowed. Your API key is for other chains. Give one of them, or ask your operator for this one. */
  chain_not_allowed: 403
  /** Vault not allowed. Your API key is for certain vaults, and this is none of them. GET /defi-vaults/v1/vaults lists them. */
  vault_not_allowed: 403
  /** Deposit limit exceeded. Your API key does not deposit so much of this asset at once; details tell how much it does. */
  deposit_limit_exceeded: 403
  /** Rate limit exceeded. Your API key has made all requests of this window. Wait as long as Retry-After says. */
  rate_limit_exceeded: 429
  /** Too many requests. Wait as long as Retry-After says. */
  too_many_requests: 429
  /** Missing or invalid platform. Send web, ios or android in the platform header. */
  missing_or_invalid_platform: 400
  /** Missing or invalid email. Give an e-mail address. */
  missing_or_invalid_email: 400
  /** Missing or invalid temporaryAuthenticationToken. Give the token that came with the options, in the body or as Authorization: Bearer <token>. */
  missing_or_invalid_temporary_authentication_token: 400
  /** Missing or invalid firstFactorCredential. Give a credential of a kind that supportedCredentialKinds lists as a first factor. */
  missing_or_invalid_first_factor_credential: 400
  /** Missing or invalid secondFactorCredential. Give a credential of a kind that supportedCredentialKinds lists as a second factor; a password needs one. */
  missing_or_invalid_second_factor_credential: 400
  /** Missing or invalid recoveryCredential. Give a credential of the kind RecoveryKey, or leave it out. */
  missing_or_invalid_recovery_credential: 400
  /** Invalid credential. Start anew, with a new challenge; details name the checks that failed. */
  invalid_credential: 400
  /** Registration expired or already used. Start anew: each registration or recovery is good for one try within ten minutes. */
  registration_expired_or_used: 401
  /** User already registered. A user with this e-mail address exists. Log in instead. */
  user_already_registered: 409
  /** Credential already registered. Start anew, with new credentials. */
  credential_already_registered: 409
  /** Missing or invalid challengeIdentifier. Give the challengeIdentifier of POST /auth/login/init. */
  missing_or_invalid_challenge_identifier: 400
  /** Missing or invalid firstFactor. Give what the credential made of the challenge, in the form of its kind. */
  missing_or_invalid_first_factor: 400
  /** Missing or invalid secondFactor. Give what the credential made of the challenge, in the form of its kind, or leave it out. */
  missing_or_invalid_second_factor: 400
  /** Missing or invalid recovery. Give what the recovery key made of newCredentials, with the kind RecoveryKey. */
  missing_or_invalid_recovery: 400
  /** Invalid credentialId. Give the id of the recovery key, which is 32 bytes in base64url, or leave it out. */
  invalid_credential_id: 400
  /** Recovery failed. Start a new recovery: each is good for one try. */
  recovery_failed: 401
  /** Login failed. Start a new login: each is good for one try. */
  login_failed: 401
  /** Confirmation failed. Start anew: sign with a first factor that the user has, and a second one where the user has any. */
  confirmation_failed: 401
  /** Too many credentials. A user can have 8 credentials; remove one. */
  too_many_credentials: 409
  /** Credential not found. The user has no credential with this id; GET /auth/credentials lists them. */
  credential_not_found: 404
  /** Last first factor. Nobody could log in without it. Add another one first. */
  last_first_factor: 409
  /** Last second factor. The password needs it. Add another one first, or remove the password. */
  last_second_factor: 409
  /** Missing or invalid address. Give an address of the chain; a mixed-case EVM address needs its correct checksum. */
  missing_or_invalid_address: 400
  /** Missing or invalid chain. Give evm or solana. */
  missing_or_invalid_chain: 400
  /** Missing or invalid message. Give the message of POST /auth/wallets/init as it is. */
  missing_or_invalid_message: 400
  /** Invalid signature. Sign the message with the wallet's own key: hexadecimal for EVM, base58 for Solana. */
  invalid_signature: 400
  /** Challenge expired or already used. Ask for a new one: each is good once, within ten minutes, for the user who asked for it. */
  challenge_expired_or_used: 401
  /** Wallet already linked. The user has linked this wallet before. */
  wallet_already_linked: 409
  /** Too many wallets. A user can link 20 wallets; unlink one. */
  too_many_wallets: 409
  /** Session not found. The user has no session with this id; it may have ended. */
  session_not_found: 404
  /** Fresh login required. Log in again: this takes a session that is not older than ten minutes. */
  fresh_login_required: 403
  /** Wallet not found. The user has linked no wallet with this address. */
  wallet_not_found: 404
  /** Missing or invalid vaultAddress. Give the vault contract address; a mixed-case address needs its correct checksum. */
  missing_or_invalid_vault_address: 400
  /** Missing or invalid amount. Give a positive amount in the token's smallest unit, as a string of digits. */
  missing_or_invalid_amount: 400
  /** Missing or invalid userAddress. Give the wallet address of the user; a mixed-case address needs its correct checksum. */
  missing_or_invalid_user_address: 400
  /** Missing or invalid chainId. Give the id of a supported chain, or leave it out. */
  missing_or_invalid_chain_id: 400
  /** Missing or invalid srcChainId. Give srcChainId and srcToken together, or neither. */
  missing_or_invalid_src_chain_id: 400
  /** Missing or invalid srcToken. Give srcChainId and srcToken together, or neither. */
  missing_or_invalid_src_token: 400
  /** Missing or invalid dstChainId. Give dstChainId and dstToken together, or neither; the claim of a deposit takes neither. */
  missing_or_invalid_dst_chain_id: 400
  /** Missing or invalid dstToken. Give dstChainId and dstToken together, or neither; the claim of a deposit takes neither. */
  missing_or_invalid_dst_token: 400
  /** Unsupported source chain. Deposits into this vault cannot start on that chain. */
  unsupported_source_chain: 400
  /** Unsupported source token. Give the token of that chain that is the same asset as the vault's. */
  unsupported_source_token: 400
  /** Unsupported destination chain. Withdrawals from this vault cannot go to that chain. */
  unsupported_destination_chain: 400
  /** Unsupported destination token. Give the token of that chain that is the same asset as the vault's. */
  unsupported_destination_token: 400
  /** Amount too low for bridge. The bridge does not take so little, or its fee would be more than a tenth of it; try a larger amount: details tell one where it is known. */
  amount_too_low_for_bridge: 400
  /** Amount too high for bridge. The amount is above what the bridge can move now; try a smaller one: details tell the largest where it is known. */
  amount_too_high_for_bridge: 400
  /** Cross-chain deposit not available for this vault. Deposit from the vault's own chain, or withdraw to it, instead: leave out the other chain and its token. A withdrawal can go to another chain only where the vault pays at once; where it pays later, its claim can. */
  cross_chain_not_available: 409
  /** Amount exceeds balance. The user does not have so much in this vault; details tell what is there. */
  amount_exceeds_balance: 400
  /** Ambiguous vaultAddress. You have a vault with this address on more than one chain: give chainId. */
  ambiguous_vault_address: 400
  /** Vault not found. No vault with this address is configured for your account, or not on that chain. */
  vault_not_found: 404
  /** No vaults configured. No vault is configured for your account yet. */
  no_vaults_configured: 404
  /** Depositor not allowed. The vault's access list does not admit this wallet. */
  depositor_not_allowed: 403
  /** Vault has changed. The vault's code is not the one that an operator confirmed, or its price jumped. Try again once it is confirmed; claims and withdrawals go on. */
  vault_has_changed: 409
  /** Vault is paused. Try again when the vault is no longer paused. */
  vault_is_paused: 409
  /** Vault is closed. The vault is closing or closed and takes no more deposits. */
  vault_is_closed: 409
  /** Vault is closing. A closing vault takes no requests; what is claimable can be claimed, the rest withdrawn once it is closed. */
  vault_is_closing: 409
  /** Deposits are not open. The vault accepts no deposits at the moment. */
  deposits_are_not_open: 409
  /** Unsupported vault version. The vault runs a version that this service does not know; deposits and withdrawals wait until it does. */
  unsupported_vault_version: 409
  /** Previous deposit request not settled. Wait until the earlier request of this wallet is settled. */
  previous_deposit_request_not_settled: 409
  /** Previous withdrawal request not settled. Wait until the earlier request for this wallet is settled; anybody can make one for it. */
  previous_withdrawal_request_not_settled: 409
  /** Not enough liquidity. The vault cannot pay so much now; details tell how much where it says so. Try a smaller amount, or later: some vaults pay after a waiting time or through a queue of their own. */
  not_enough_liquidity: 409
  /** Withdrawal refused by the vault. Details give the reason of its contract. Try another amount, or later: some vaults pay after a waiting time or through a queue of their own. */
  withdrawal_refused: 409
  /** Vault cap reached. The amount would take the vault above its cap; try a smaller one: details tell the largest where it is known. */
  vault_cap_reached: 409
  /** No claimable deposit found for this user. There is nothing to claim, or the deposit is not settled yet. */
  no_claimable_deposit: 400
  /** No claimable withdrawal. There is nothing to claim, or the withdrawal is not settled yet. */
  no_claimable_withdrawal: 404
  /** Claim deposit is only applicable to async vaults. This vault gives shares and assets at once; there is nothing to claim. */
  claim_not_applicable: 400
  /** No pending request. The user has no request of this kind that is not settled. */
  no_pending_request: 404
  /** Request can no longer be cancelled. Its settlement has begun, it is being cancelled already, or the vault does not take such requests back. Ask again, or wait until it is settled. */
  request_can_no_longer_be_cancelled: 409
  /** Cancel is only applicable to async vaults. This vault gives shares and assets at once; there is nothing to take back. */
  cancel_not_applicable: 400
  /** Invalid asset. Give the address of a token, or leave it out; a mixed-case address needs its correct checksum. */
  invalid_asset: 400
  /** Invalid type. Give async or sync, or leave it out. */
  invalid_type: 400
  /** Invalid kind. Give deposit or withdrawal, or leave it out. */
  invalid_kind: 400
  /** Deposit status is only applicable to async vaults. Deposits into this vault need no settlement. */
  deposit_status_not_applicable: 400
  /** Withdraw status is only applicable to async vaults. Withdrawals from this vault need no settlement. */
  withdraw_status_not_applicable: 400
  /** Missing required parameter: txHash. Give the hash of the source transaction in the path. */
  missing_tx_hash: 400
  /** Invalid txHash. A transaction hash is 0x and 64 hexadecimal digits. */
  invalid_tx_hash: 400
  /** Missing required query parameter: srcChainId. Give the id of the chain of the source transaction. */
  missing_src_chain_id: 400
  /** Invalid srcChainId. Give the id of the chain of the source transaction, a number. */
  invalid_src_chain_id: 400
  /** Unsupported srcChainId. No transfers can come from that chain. */
  unsupported_src_chain_id: 400
  /** Invalid index. Give which of the transfers in the transaction is meant: a whole number from 0 to 49. */
  invalid_index: 400
  /** Position not found. The user never had anything in this vault. */
  position_not_found: 404
  /** Invalid limit. Give a number from 1 to 100. */
  invalid_limit: 400
  /** Invalid cursor. Give the nextCursor of the page before, with the same filters. */
  invalid_cursor: 400
  /** Invalid status. Give pending, claimable, completed or cancelled. */
  invalid_status: 400
  /** Missing or invalid url. Give an https URL with a public name, on port 443; details tell what is wrong with it. */
  missing_or_invalid_url: 400
  /** Invalid types. Give types of events, which `details` lists, or leave them out for all. */
  invalid_types: 400
  /** Invalid finality. Give final or latest, or leave it out. */
  invalid_finality: 400
  /** Invalid after. Give the sequence of the last event that you have, or leave it out. */
  invalid_after: 400
  /** Webhook not found. There is no webhook with this id; it may have been removed. */
  webhook_not_found: 404
  /** Webhook already registered. There is a webhook at this URL. Ask for a new secret of it, or remove it first. */
  webhook_already_registered: 409
  /** Too many webhooks. There can be 10 webhooks; remove one. */
  too_many_webhooks: 409
  /** Unsupported currency. Give a currency such as USD, EUR, GBP, CHF or JPY, or leave it out. */
  unsupported_currency: 400
  /** Invalid days. Give a whole number of days from 1 up, or max. */
  invalid_days: 400
  /** Unsupported network. Give a chain by its key, such as base-mainnet, by its id, or by its CoinGecko platform. */
  unsupported_network: 400
  /** Token not found. Nobody knows a price of such a token. */
  token_not_found: 404
  /** Coin not found. Give the id of a coin, as the search tells it. */
  coin_not_found: 404
  /** Search must contain at least 3 characters. Give a part of the name or of the symbol of a coin. */
  invalid_search: 400
  /** Search must contain at most 100 characters. Give a part of the name or of the symbol of a coin. */
  search_too_long: 400
  /** Upstream unavailable. A chain or service that we need gave an answer that cannot be used. Try again. */
  upstream_bad_answer: 502
  /** Upstream unavailable. A chain or service that we need cannot be reached at the moment. Try again shortly. */
  upstream_unavailable: 503
  /** Upstream unavailable. A chain or service that we need took too long to answer. Try again. */
  upstream_timeout: 504
  /** Nodes disagree. Two nodes of a chain contradict each other: there is nothing safe to sign. Try again shortly. */
  nodes_disagree: 503
  /** Nodes disagree. One of two nodes that must agree is silent: there is nothing safe to sign. Try again shortly. */
  second_node_silent: 503
  /** Service unavailable. We cannot answer at the moment. Try again shortly. */
  service_unavailable: 503
  /** Request timed out. The request took too long. Try again. */
  timed_out: 504
  /** Internal server error. Something went wrong on our side. Quote the requestId when you report it. */
  internal: 500
}

/** Starts a registration: returns the options for creating credentials, and a temporary token. */
export const startRegistration = /* @__PURE__ */ operation<
{
  /** What the application runs on */
  platform: 'web' | 'ios' | 'android'
} & StartRegistrationRequest,
StartRegistrationResponse,
'missing_or_invalid_platform' | 'missing_or_invalid_email' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'payload_too_large' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/register/init', { headers: ['platform'] })

/** Completes a registration with the credentials that were created for it. */
export const completeRegistration = /* @__PURE__ */ operation<
CompleteRegistrationRequest,
undefined,
'missing_or_invalid_temporary_authentication_token' | 'unknown_field' | 'missing_or_invalid_first_factor_credential' | 'missing_or_invalid_second_factor_credential' | 'missing_or_invalid_recovery_credential' | 'invalid_json' | 'invalid_content_digest' | 'invalid_credential' | 'missing_api_key' | 'invalid_api_key' | 'registration_expired_or_used' | 'insufficient_scope' | 'user_already_registered' | 'credential_already_registered' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/register')

/** Starts a recovery: returns the options for creating new credentials, and a temporary token. */
export const startRecovery = /* @__PURE__ */ operation<
{
  /** What the application runs on */
  platform: 'web' | 'ios' | 'android'
} & StartRecoveryRequest,
StartRecoveryResponse,
'missing_or_invalid_platform' | 'missing_or_invalid_email' | 'invalid_credential_id' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/recover/init', { headers: ['platform'] })

/** Completes a recovery: new credentials that the recovery key signed replace all others, and all sessions end. */
export const completeRecovery = /* @__PURE__ */ operation<
CompleteRecoveryRequest,
undefined,
'missing_or_invalid_temporary_authentication_token' | 'missing_or_invalid_recovery' | 'missing_or_invalid_first_factor_credential' | 'missing_or_invalid_second_factor_credential' | 'missing_or_invalid_recovery_credential' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'invalid_credential' | 'missing_api_key' | 'invalid_api_key' | 'registration_expired_or_used' | 'recovery_failed' | 'insufficient_scope' | 'credential_already_registered' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/recover')

/** Starts a login: returns a challenge for the user's credentials, or for any passkey when no user is named. */
export const startLogin = /* @__PURE__ */ operation<
StartLoginRequest,
StartLoginResponse,
'missing_or_invalid_email' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/login/init')

/** Completes a login with the signed challenge and returns a session that lasts 30 days. A user has at most 20 sessions: one more login ends the oldest. */
export const completeLogin = /* @__PURE__ */ operation<
{
  /** What the application runs on */
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
>('POST', '/auth/logout')

/** Lists the user's credentials, the oldest first. */
export const listCredentials = /* @__PURE__ */ operation<
void,
ListCredentialsResponse,
'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('GET', '/auth/credentials')

/** Starts to add a credential: returns the options for creating it, and what an old one confirms it with. */
export const startAddingCredential = /* @__PURE__ */ operation<
{
  /** What the application runs on */
  platform: 'web' | 'ios' | 'android'
},
StartAddingCredentialResponse,
'missing_or_invalid_platform' | 'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/credentials/init', { headers: ['platform'] })

/** Adds a credential, confirmed by those that the user has; a password, a code or a recovery key replaces the old one. */
export const addCredential = /* @__PURE__ */ operation<
AddCredentialRequest,
Credential,
'missing_or_invalid_temporary_authentication_token' | 'missing_or_invalid_first_factor_credential' | 'missing_or_invalid_second_factor_credential' | 'missing_or_invalid_recovery_credential' | 'missing_or_invalid_first_factor' | 'missing_or_invalid_second_factor' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'invalid_credential' | 'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'challenge_expired_or_used' | 'confirmation_failed' | 'insufficient_scope' | 'credential_already_registered' | 'too_many_credentials' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/credentials')

/** Removes a credential; takes a login of the last ten minutes. */
export const removeCredential = /* @__PURE__ */ operation<
{
  /** As the list names it */
  id: string
},
undefined,
'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'fresh_login_required' | 'credential_not_found' | 'last_first_factor' | 'last_second_factor' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('DELETE', '/auth/credentials/{id}')

/** Lists the user's sessions, newest login first. */
export const listSessions = /* @__PURE__ */ operation<
void,
ListSessionsResponse,
'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('GET', '/auth/sessions')

/** Ends one of the user's sessions: that of the request, or another where its login was in the last ten minutes. */
export const endSession = /* @__PURE__ */ operation<
{
  /** As the list names it */
  id: string
},
undefined,
'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'fresh_login_required' | 'session_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('DELETE', '/auth/sessions/{id}')

/** Ends all of the user's sessions but that of the request, where its login was in the last ten minutes. Offer it where credentials have changed. */
export const endOtherSessions = /* @__PURE__ */ operation<
void,
undefined,
'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'fresh_login_required' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('DELETE', '/auth/sessions')

/** Deletes the user with all credentials, sessions and wallet links; takes a login of the last ten minutes. */
export const deleteUser = /* @__PURE__ */ operation<
void,
undefined,
'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'fresh_login_required' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('DELETE', '/auth/user')

/** Returns the message that a wallet signs to be linked to the user; takes a login of the last ten minutes. */
export const startLinkingWallet = /* @__PURE__ */ operation<
StartLinkingWalletRequest,
StartLinkingWalletResponse,
'missing_or_invalid_address' | 'missing_or_invalid_chain' | 'missing_or_invalid_chain_id' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'fresh_login_required' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/auth/wallets/init')

/** Links a wallet to the user; its signature proves that the user holds it. */
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

/** Unlinks a wallet. */
export const unlinkWallet = /* @__PURE__ */ operation<
{
  /** As the list names it */
  address: string
},
undefined,
'missing_or_invalid_address' | 'missing_api_key' | 'invalid_api_key' | 'missing_session' | 'invalid_session' | 'insufficient_scope' | 'wallet_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('DELETE', '/auth/wallets/{address}')

/** Lists the vaults that the key sees of those configured for the client, with their live yield and on-chain state, by chain and address as texts (42161 before 8453); all at once, or page by page. */
export const listVaults = /* @__PURE__ */ operation<
{
  /** On this chain alone */
  chainId?: '1' | '10' | '56' | '100' | '137' | '8453' | '42161' | number | undefined
  /** With this token to deposit alone */
  asset?: Address | undefined
  /** Of this type alone */
  type?: 'async' | 'sync' | undefined
  /** 1 to 100; all are on one page where it is left out */
  limit?: string | number | undefined
  /** nextCursor of the page before */
  cursor?: string | undefined
} | void,
ListVaultsResponse,
'missing_or_invalid_chain_id' | 'invalid_asset' | 'invalid_type' | 'invalid_limit' | 'invalid_cursor' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'no_vaults_configured' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('GET', '/defi-vaults/v1/vaults', { query: ['chainId', 'asset', 'type', 'limit', 'cursor'], items: 'data' })

/** Shows one of the client's vaults as the list does, with its live yield and on-chain state. */
export const getVault = /* @__PURE__ */ operation<
{
  /** Vault contract */
  vaultAddress: Address
  /** Needed only where two chains have a vault with this address */
  chainId?: '1' | '10' | '56' | '100' | '137' | '8453' | '42161' | number | undefined
},
GetVaultResponse,
'missing_or_invalid_vault_address' | 'missing_or_invalid_chain_id' | 'invalid_path' | 'ambiguous_vault_address' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'chain_not_allowed' | 'vault_not_allowed' | 'vault_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('GET', '/defi-vaults/v1/vault/{vaultAddress}', { query: ['chainId'] })

/** Builds the transactions that deposit into a vault: approvals first, then the operations, in order. */
export const prepareDeposit = /* @__PURE__ */ operation<
PrepareDepositRequest,
PrepareDepositResponse,
'missing_or_invalid_vault_address' | 'missing_or_invalid_amount' | 'missing_or_invalid_user_address' | 'missing_or_invalid_src_chain_id' | 'unsupported_source_chain' | 'missing_or_invalid_src_token' | 'missing_or_invalid_chain_id' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'unsupported_source_token' | 'amount_too_low_for_bridge' | 'amount_too_high_for_bridge' | 'ambiguous_vault_address' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'chain_not_allowed' | 'vault_not_allowed' | 'deposit_limit_exceeded' | 'depositor_not_allowed' | 'vault_not_found' | 'cross_chain_not_available' | 'vault_has_changed' | 'vault_is_paused' | 'vault_is_closed' | 'deposits_are_not_open' | 'unsupported_vault_version' | 'previous_deposit_request_not_settled' | 'vault_cap_reached' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'nodes_disagree' | 'second_node_silent' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('POST', '/defi-vaults/v1/defi/vault/deposit')

/** Builds the transactions that withdraw from a vault: by assets, by shares, or everything. */
export const prepareWithdrawal = /* @__PURE__ */ operation<
PrepareWithdrawalRequest,
PrepareWithdrawalResponse,
'missing_or_invalid_vault_address' | 'missing_or_invalid_user_address' | 'missing_or_invalid_amount' | 'missing_or_invalid_chain_id' | 'missing_or_invalid_dst_chain_id' | 'unsupported_destination_chain' | 'missing_or_invalid_dst_token' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'unsupported_destination_token' | 'amount_too_low_for_bridge' | 'amount_too_high_for_bridge' | 'ambiguous_vault_address' | 'amount_exceeds_balance' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'depositor_not_allowed' | 'vault_not_found' | 'cross_chain_not_available' | 'vault_is_paused' | 'vault_is_closing' | 'unsupported_vault_version' | 'previous_withdrawal_request_not_settled' | 'not_enough_liquidity' | 'withdrawal_refused' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'nodes_disagree' | 'second_node_silent' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('POST', '/defi-vaults/v1/defi/vault/withdraw')

/** Builds the transactions that claim what is settled in an async vault: shares of a deposit, assets of a withdrawal. */
export const prepareClaim = /* @__PURE__ */ operation<
PrepareClaimRequest,
PrepareClaimResponse,
'missing_or_invalid_vault_address' | 'missing_or_invalid_user_address' | 'invalid_kind' | 'missing_or_invalid_chain_id' | 'missing_or_invalid_dst_chain_id' | 'unsupported_destination_chain' | 'missing_or_invalid_dst_token' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'unsupported_destination_token' | 'amount_too_low_for_bridge' | 'amount_too_high_for_bridge' | 'ambiguous_vault_address' | 'claim_not_applicable' | 'no_claimable_deposit' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'depositor_not_allowed' | 'vault_not_found' | 'no_claimable_withdrawal' | 'cross_chain_not_available' | 'vault_is_paused' | 'withdrawal_refused' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'nodes_disagree' | 'second_node_silent' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('POST', '/defi-vaults/v1/defi/vault/claim')

/** Builds the transaction that takes a user's pending request back from an async vault. */
export const prepareCancellation = /* @__PURE__ */ operation<
PrepareCancellationRequest,
PrepareCancellationResponse,
'missing_or_invalid_vault_address' | 'missing_or_invalid_user_address' | 'invalid_kind' | 'missing_or_invalid_chain_id' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'ambiguous_vault_address' | 'cancel_not_applicable' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'depositor_not_allowed' | 'vault_not_found' | 'no_pending_request' | 'vault_is_paused' | 'request_can_no_longer_be_cancelled' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'nodes_disagree' | 'second_node_silent' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('POST', '/defi-vaults/v1/defi/vault/cancel')

/** Returns the status of a user's deposit into an async vault: pending, claimable or deposited. */
export const getDepositStatus = /* @__PURE__ */ operation<
{
  /** Vault contract */
  vaultAddress: Address
  /** The user's wallet */
  userAddress: Address
  /** Needed only where two chains have a vault with this address */
  chainId?: '1' | '10' | '56' | '100' | '137' | '8453' | '42161' | number | undefined
},
GetDepositStatusResponse,
'missing_or_invalid_vault_address' | 'missing_or_invalid_user_address' | 'missing_or_invalid_chain_id' | 'invalid_path' | 'ambiguous_vault_address' | 'deposit_status_not_applicable' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'vault_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/defi-vaults/v1/defi/vault/{vaultAddress}/deposit-status', { query: ['userAddress', 'chainId'] })

/** Returns the status of a user's withdrawal from an async vault: pending, claimable or withdrawn. */
export const getWithdrawalStatus = /* @__PURE__ */ operation<
{
  /** Vault contract */
  vaultAddress: Address
  /** The user's wallet */
  userAddress: Address
  /** Needed only where two chains have a vault with this address */
  chainId?: '1' | '10' | '56' | '100' | '137' | '8453' | '42161' | number | undefined
},
GetWithdrawalStatusResponse,
'missing_or_invalid_vault_address' | 'missing_or_invalid_user_address' | 'missing_or_invalid_chain_id' | 'invalid_path' | 'ambiguous_vault_address' | 'withdraw_status_not_applicable' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'vault_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/defi-vaults/v1/defi/vault/{vaultAddress}/withdraw-status', { query: ['userAddress', 'chainId'] })

/** Returns the status of a transfer between chains: of a deposit from another chain, from its source transaction to the shares or the deposit request, or of a withdrawal to one, to the tokens. */
export const getTransferStatus = /* @__PURE__ */ operation<
{
  /** Source chain transaction hash */
  txHash: TransactionHash
  /** The chain of that transaction */
  srcChainId: string | number
  /** Which of several transfers in the transaction, counting from 0; at most 49 */
  index?: string | number | undefined
},
GetTransferStatusResponse,
'missing_tx_hash' | 'invalid_tx_hash' | 'missing_src_chain_id' | 'invalid_src_chain_id' | 'unsupported_src_chain_id' | 'invalid_index' | 'invalid_path' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/defi-vaults/v1/defi/cross-chain/{txHash}/status', { query: ['srcChainId', 'index'] })

/** Lists a user's positions in the client's vaults: amounts put in, taken out, held and earned. */
export const listPositions = /* @__PURE__ */ operation<
{
  /** The user's wallet */
  userAddress: Address
},
ListPositionsResponse,
'missing_or_invalid_user_address' | 'invalid_path' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/defi-vaults/v1/defi/user/{userAddress}/positions')

/** Shows a user's position in one vault with its amounts, its latest deposits and a price history. */
export const getPosition = /* @__PURE__ */ operation<
{
  /** The user's wallet */
  userAddress: Address
  /** Vault contract */
  vaultAddress: Address
  /** Needed only where two chains have a vault with this address */
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
  /** 1 to 100 */
  limit?: string | number | undefined
  /** nextCursor of the page before */
  cursor?: string | undefined
  /** Of this vault alone */
  vaultAddress?: Address | undefined
  /** Of this chain alone */
  chainId?: '1' | '10' | '56' | '100' | '137' | '8453' | '42161' | number | undefined
  /** Of this status alone */
  status?: 'pending' | 'claimable' | 'completed' | 'cancelled' | undefined
},
ListDepositsResponse,
'missing_or_invalid_user_address' | 'invalid_limit' | 'invalid_cursor' | 'missing_or_invalid_vault_address' | 'missing_or_invalid_chain_id' | 'invalid_status' | 'invalid_path' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/defi-vaults/v1/defi/user/{userAddress}/deposits', { query: ['limit', 'cursor', 'vaultAddress', 'chainId', 'status'], items: 'deposits' })

/** Lists a user's withdrawals from the client's vaults, redemption requests and those at once, newest first, page by page. */
export const listWithdrawals = /* @__PURE__ */ operation<
{
  /** The user's wallet */
  userAddress: Address
  /** 1 to 100 */
  limit?: string | number | undefined
  /** nextCursor of the page before */
  cursor?: string | undefined
  /** Of this vault alone */
  vaultAddress?: Address | undefined
  /** Of this chain alone */
  chainId?: '1' | '10' | '56' | '100' | '137' | '8453' | '42161' | number | undefined
  /** Of this status alone */
  status?: 'pending' | 'claimable' | 'completed' | 'cancelled' | undefined
},
ListWithdrawalsResponse,
'missing_or_invalid_user_address' | 'invalid_limit' | 'invalid_cursor' | 'missing_or_invalid_vault_address' | 'missing_or_invalid_chain_id' | 'invalid_status' | 'invalid_path' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/defi-vaults/v1/defi/user/{userAddress}/withdrawals', { query: ['limit', 'cursor', 'vaultAddress', 'chainId', 'status'], items: 'withdrawals' })

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
  /** CoinGecko's id, such as bitcoin */
  id: string
  /** Currency code in any case, such as USD, EUR, GBP, CHF or JPY */
  currency?: string | undefined
  /** A whole number from 1 to 36500, or max */
  days?: string | number | undefined
},
GetCoinChartResponse,
'unsupported_currency' | 'invalid_days' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'token_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/portfolio-indexor/token/id/{id}', { query: ['currency', 'days'] })

/** Returns a token's price history, by network and token address. */
export const getTokenChart = /* @__PURE__ */ operation<
{
  /** A chain: its key such as base-mainnet, its id, or its CoinGecko platform */
  network: string
  /** The token's contract; `native`, 0xEeee…EEeE or 0x000…000 for the chain's own coin */
  address: string
  /** Currency code in any case, such as USD, EUR, GBP, CHF or JPY */
  currency?: string | undefined
  /** A whole number from 1 to 36500, or max */
  days?: string | number | undefined
},
GetTokenChartResponse,
'unsupported_network' | 'unsupported_currency' | 'invalid_days' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'token_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'upstream_bad_answer' | 'upstream_unavailable' | 'service_unavailable' | 'upstream_timeout' | 'timed_out'
>('GET', '/portfolio-indexor/token/address/{network}/{address}', { query: ['currency', 'days'] })

/** Lists the supported coins on all chains, with price, market cap, volume and market data. */
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
  /** CoinGecko's id, such as bitcoin */
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

/** Registers an HTTPS endpoint of yours, to which the events of your vaults are sent from now on. */
export const registerWebhook = /* @__PURE__ */ operation<
RegisterWebhookRequest,
RegisteredWebhook,
'missing_or_invalid_url' | 'invalid_types' | 'invalid_finality' | 'invalid_json' | 'unknown_field' | 'invalid_content_digest' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'webhook_already_registered' | 'too_many_webhooks' | 'payload_too_large' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/webhooks')

/** Lists your webhooks, oldest first, and whether deliveries to them succeed. Secrets are not listed. */
export const listWebhooks = /* @__PURE__ */ operation<
void,
ListWebhooksResponse,
'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('GET', '/webhooks')

/** Gives a webhook a new secret. For 24 hours each delivery is signed with both, the new one and the previous one. */
export const rotateWebhookSecret = /* @__PURE__ */ operation<
{
  /** The id of the webhook, as `GET /webhooks` lists it */
  id: string
},
RotateWebhookSecretResponse,
'invalid_path' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'webhook_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/webhooks/{id}/secret')

/** Sends a `webhook.test` event at once and answers whether it was delivered. A success ends the pause of a webhook that takes nothing; a disabled one is switched on again, and sent all that it did not take. */
export const testWebhook = /* @__PURE__ */ operation<
{
  /** The id of the webhook, as `GET /webhooks` lists it */
  id: string
},
WebhookTest,
'invalid_path' | 'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'webhook_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('POST', '/webhooks/{id}/test')

/** Removes a webhook: nothing more is sent to it, nor what was still to be delivered. */
export const removeWebhook = /* @__PURE__ */ operation<
{
  /** The id of the webhook, as `GET /webhooks` lists it */
  id: string
},
undefined,
'missing_api_key' | 'invalid_api_key' | 'insufficient_scope' | 'webhook_not_found' | 'rate_limit_exceeded' | 'too_many_requests' | 'internal' | 'service_unavailable' | 'timed_out'
>('DELETE', '/webhooks/{id}')

/** Lists the events of the last 30 days in the order of `sequence`, whether they were delivered or not. */
export const listEvents = /* @__PURE__ */ operation<
{
  /** The `sequence` of the last event that you have: the list begins with the next one. Left out: it begins with the oldest event that is kept */
  after?: string | number | undefined
  /** The most events in one answer, 1 to 100 */
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

