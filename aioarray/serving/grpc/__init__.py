"""The Open Inference Protocol over gRPC: the same models, queues and limits as over HTTP. Needs the extra ``grpc``."""
