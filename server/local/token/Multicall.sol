// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Several calls in one. It answers to the two calls of the well-known Multicall3 that are made here:
/// `tryAggregate` by the facilitator, which names a refusal by it, and `aggregate3` by viem's clients.
contract Multicall {
    struct Call {
        address target;
        bytes callData;
    }

    struct LenientCall {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function tryAggregate(bool requireSuccess, Call[] calldata calls)
        external
        payable
        returns (Result[] memory returnData)
    {
        returnData = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            returnData[i] = ask(calls[i].target, calls[i].callData, !requireSuccess);
        }
    }

    function aggregate3(LenientCall[] calldata calls) external payable returns (Result[] memory returnData) {
        returnData = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            returnData[i] = ask(calls[i].target, calls[i].callData, calls[i].allowFailure);
        }
    }

    function ask(address target, bytes calldata callData, bool mayFail) private returns (Result memory result) {
        (result.success, result.returnData) = target.call(callData);
        require(result.success || mayFail, "Multicall: a call failed");
    }
}
