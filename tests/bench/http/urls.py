"""The reference: a bare view of the framework behind the product's own token check. It exists in the bench only."""

import json

from django.db import connection, transaction
from django.urls import path
from rest_framework.parsers import JSONParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from casino import urls as product
from casino.urls import *  # noqa: F403 - the product's handlers of errors


class BareWrite(APIView):
    """One INSERT of the body, one COMMIT; the token is checked by the class that the product names in its settings."""

    parser_classes = [JSONParser]
    permission_classes = [IsAuthenticated]

    def post(self, request: Request) -> Response:
        """Write the row; 201."""
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO bench_bare (staff_id, body) VALUES (%s, %s)", [request.user.pk, json.dumps(request.data)]
            )
        return Response({"written": True}, status=201)


urlpatterns = [path("bench/bare", BareWrite.as_view()), *product.urlpatterns]
