/**
 * Advice after a response that is not a receipt, in the same words everywhere: whether money moved, and where to check.
 * It gives the next step both for a client that can resend a signed request and for one that cannot.
 */

const OTHERWISE =
  'If your client cannot resend it, make the same request again from the same wallet; you will not be charged twice.'

/** The endpoint at which a payer can check the status of its purchases. */
export const LOOK = 'GET /api/agents/{wallet} shows its status.'

/** After a 402 in response to a payment: the client may sign a new payment. */
export const SIGN_ANEW = 'Sign the terms in the 402 response and send the same request again.'

/** After a 409 about a block or area that is being bought, possibly by the caller itself. */
export const IF_YOURS =
  'If this is your purchase, send the same request again from the same wallet; you will not be charged twice. Otherwise try again in a minute.'

/**
 * After a 502, and if one of our own limits is reached: this request moved no money, and the payment is still valid.
 */
export const TRY_AGAIN = `This request claimed nothing and settled nothing. Send the same signed request again shortly. ${OTHERWISE}`

/** After a 503, and after a lost response: money may have moved. */
export const REPEAT = `Do not pay again. Send the same signed request again. ${OTHERWISE} ${LOOK}`

/** The advice by HTTP status, for agents that read the documentation before they buy. */
export const ADVICE = {
  402: `The field reason, if present, says why a payment was rejected, and the field charged says whether it may still move. ${SIGN_ANEW}`,
  409: `The field charged, if present, says whether the payment moved. ${IF_YOURS} Only payment_credited and payment_unmatched mean that a payment arrived but bought nothing: do not pay again, the operator owes it back to you. ${LOOK}`,
  502: TRY_AGAIN,
  503: `The payment may have gone through. ${REPEAT}`,
} as const
